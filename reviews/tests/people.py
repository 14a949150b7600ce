"""How tests log people in, and what they do in the browser's place."""

import re
from typing import Any

from django.contrib.auth.models import Group, User
from django.test import Client as Browser

from classifier.models import Classification, PolicyVersion
from reports import lifecycle
from reports.models import Item, Report, Severity


def log_in(name: str, *roles: str) -> Browser:
    """A browser in which a person with these roles is logged in."""
    user, _made = User.objects.get_or_create(username=name)
    user.groups.add(*Group.objects.filter(name__in=roles))
    browser = Browser()
    browser.force_login(user)
    return browser


def classify(report: Report, policy: PolicyVersion, **changes: Any) -> Classification:
    """Write a verdict as recording would, without asking a model."""
    from django.db import transaction  # noqa: PLC0415

    values: dict[str, Any] = {
        "category": "none",
        "confidence": 0.93,
        "summary": "A harmless text.",
        "quotes": [],
        "severity": Severity.NONE,
        "safe": True,
        "rules": [],
        "served_model": policy.model,
        "model_seconds": 0.1,
        "answer_hash": "0" * 64,
        **changes,
    }
    with transaction.atomic():
        locked = lifecycle.lock(report.pk)
        verdict = Classification.objects.create(report=locked, policy_version=policy, **values)
        lifecycle.apply_verdict(
            report=locked, safe=verdict.safe, severity=Severity(verdict.severity)
        )
    report.refresh_from_db()
    return verdict


def judge_threat(report: Report, policy: PolicyVersion, **changes: Any) -> Classification:
    return classify(
        report,
        policy,
        **{
            "category": "credible_threat",
            "confidence": 0.91,
            "summary": "The author threatens the reader.",
            "severity": Severity.CRITICAL,
            "safe": False,
            "rules": ["unsafe_category", "critical"],
            **changes,
        },
    )


def page(browser: Browser, address: str, *, status: int = 200) -> str:
    """A page's HTML with its white space folded."""
    answer = browser.get(address)
    assert answer.status_code == status, (address, answer.status_code)
    return " ".join(answer.content.decode().split())


def form_of(html: str) -> dict[str, str]:
    """The hidden values of the decision form: what the page's reader has seen."""
    return dict(
        re.findall(r'<input type="hidden" name="(reports|last)"(?: value="([^"]*)")?', html)
    )


def decide(browser: Browser, item: Item, html: str, **values: str) -> Any:
    """Submit the decision form of a page that was read before."""
    return browser.post(f"/review/items/{item.pk}/", {**form_of(html), "stay": "", **values})
