"""What decides under a policy version: checked the same way whether a file or a form brings it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from classifier import prompt, rules
from classifier.models import Category, PolicyVersion
from reports import spelling, triage
from reports.models import Severity

CATEGORY_ID = r"^[a-z][a-z_]{0,62}$"


class PolicyContentError(Exception):
    """It cannot become a policy version; the message says where and why."""


class _Category(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    id: str = Field(pattern=CATEGORY_ID)
    name: str
    severity: str
    safe: bool = False
    guidance: str


class _Policy(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    title: str = Field(min_length=1, max_length=200)
    safe_threshold: float = Field(ge=0, le=1)
    prompt: str
    categories: list[_Category] = Field(min_length=2)


@dataclass(frozen=True)
class PolicyContent:
    """All that decides a verdict under a version."""

    model: str
    prompt: str
    categories: list[Category]
    safe_threshold: float
    revisions: dict[str, int]

    def hash(self) -> str:
        """64 hex digits; equal for equal content."""
        canonical = json.dumps(asdict(self), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(canonical.encode()).hexdigest()


def code_revisions() -> dict[str, int]:
    """What of the code decides under a version: the prompt's frame, what is compared, each rule."""
    return {
        "prompt": prompt.REVISION,
        "intake.spelling": spelling.REVISION,
        **{f"intake.{rule.name}": rule.revision for rule in triage.every_rule()},
        **{rule.name: rule.revision for rule in rules.RULES},
    }


def content_today(version: PolicyVersion) -> PolicyContent:
    """The version's model and text as the code decides under them now."""
    return PolicyContent(
        model=version.model,
        prompt=version.prompt,
        categories=version.categories,
        safe_threshold=version.safe_threshold,
        revisions=code_revisions(),
    )


def changed_rules(version: PolicyVersion) -> list[str]:
    """The names of what decides otherwise by now than the version says; empty where it holds."""
    now = code_revisions()
    names = sorted(version.revisions.keys() | now.keys())
    return [name for name in names if version.revisions.get(name) != now.get(name)]


def check_policy(data: Mapping[str, Any], *, model: str) -> tuple[str, PolicyContent]:
    """The title and the content of a policy in the shape of our files.

    Raises `PolicyContentError`.
    """
    try:
        parsed = _Policy.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(step) for step in first["loc"])
        raise PolicyContentError(f"{where}: {first['msg']}") from None
    categories = [_category(each) for each in parsed.categories]
    if len({each["id"] for each in categories}) != len(categories):
        raise PolicyContentError(_("a category id stands twice"))
    if not any(each["safe"] for each in categories):
        raise PolicyContentError(_("no category is marked safe"))
    return parsed.title, PolicyContent(
        model=model,
        # A browser's form sends its own line breaks.
        prompt=parsed.prompt.strip().replace("\r\n", "\n"),
        categories=categories,
        safe_threshold=parsed.safe_threshold,
        revisions=code_revisions(),
    )


def _category(read: _Category) -> Category:
    if read.severity.upper() not in Severity.names:
        raise PolicyContentError(
            _("%(category)s: severity '%(severity)s' is not known")
            % {"category": read.id, "severity": read.severity}
        )
    severity = Severity[read.severity.upper()]
    if read.safe and severity > Severity.NONE:
        raise PolicyContentError(
            _("%(category)s: a safe category has severity none") % {"category": read.id}
        )
    return {
        "id": read.id,
        "name": read.name,
        "severity": severity.value,
        "safe": read.safe,
        "guidance": " ".join(read.guidance.split()),
    }
