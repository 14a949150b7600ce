"""One report through the product's own client, in this process, the way a worker does it.

Needs `django.setup` on running services; everything of the product is imported here.
"""

from __future__ import annotations

import logging
import re
import threading
import time
import uuid
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import connection
from django.db.models.functions import Now
from django.utils import timezone

from classifier.catalogue import record_limit
from classifier.models import Category, Classification, Job, PolicyVersion, ProviderModel
from classifier.pipeline import Outcome, classify_report
from classifier.policies import FIRST_POLICY, PolicyContent, load_policy, read_policy_file
from classifier.replay import Selection, execute_replay, plan_replay
from dev.interop.listening import Listener
from reports.intake import accept_report
from reports.models import Report, Sender
from reports.nudge import Lane
from reports.senders import create_sender
from reports.submission import Submission

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from django.db.models import QuerySet

OUT_OF_THE_WAY = timedelta(days=1)
SHORT_PROMPT = """\
Judge the evidence. The answer for ordinary talk between friends:
{
  "summary": "Friends talk about their day.",
  "category": "none",
  "confidence": 0.9,
  "quotes": []
}"""
"""Of a policy for a model of few tokens; the example shows a small one what a number from 0 to 1 is."""
NO_JSON = frozenset({"not_json", "empty", "too_large", "unclosed_thought", "finish_reason"})
"""Details of a refused answer that had no JSON object to look at."""


@dataclass(frozen=True)
class Came:
    """What one question came to. `seconds` is the whole of `classify_report`."""

    outcome: str
    reason: str
    detail: str
    parked: bool
    status: str
    answered_safe: bool | None
    waits: float
    seconds: float
    error: BaseException | None

    @property
    def recorded(self) -> bool:
        return self.answered_safe is not None

    @property
    def is_named(self) -> bool:
        """It ended with a recorded classification or with a reason, and nothing was raised."""
        return self.error is None and (self.recorded or bool(self.reason))

    @property
    def is_safe_without_an_answer(self) -> bool:
        return self.status == Report.Status.JUDGED_SAFE and not self.answered_safe

    @property
    def is_provider_fault(self) -> bool:
        return self.reason.startswith("provider_") or self.reason == "unknown_model"

    @property
    def is_answer(self) -> bool:
        """The model answered, whether or not the answer was of use."""
        return self.recorded or self.reason.startswith(("answer_", "model_refused"))

    @property
    def is_of_the_schema(self) -> bool:
        """The answer was JSON of the asked shape: recorded, or refused for a value in it."""
        refused = self.reason.startswith("answer_") and bool(self.detail)
        return self.recorded or (refused and self.detail not in NO_JSON)

    @property
    def name(self) -> str:
        """Equal for equal outcomes, for counting."""
        if self.error is not None:
            return f"raised {type(self.error).__name__}: {self.error}"
        if self.recorded:
            return f"recorded, {self.status}"
        return " ".join(filter(None, (self.reason or self.outcome, self.detail)))

    def __str__(self) -> str:
        parked = ", parked" if self.parked else ""
        return f"{self.name}{parked}, {self.status}, {self.seconds:.1f} s"


class Client:
    """Sends reports and has each classified; `check` is asked while waiting and may raise."""

    def __init__(self, *, check: Callable[[], None]) -> None:
        self._check = check
        self._heard = _Heard()
        self.listener = Listener()
        self.asked_as = ""
        """The form of answer that the client settled on, as its log says; blank: it said nothing."""
        made = create_sender(
            name="interop", latency_budget=timedelta(minutes=5), actor_name="interop"
        )
        self._sender = Sender.objects.get(pk=made.api_key.sender_id)

    def use(
        self, *, base_url: str, model: str, key: str = "not-needed", short_policy: bool = False
    ) -> None:
        """Ask this server from now on; another model is another version of the policy.

        That is the first policy, or the same categories in few words for a model that reads little.
        """
        self.asked_as = ""
        settings.OPENAI_BASE_URL = base_url
        settings.OPENAI_API_KEY = key
        settings.MODEL = model
        title, content = read_policy_file(FIRST_POLICY, model=model)
        if short_policy:
            content = _shortened(content)
        load_policy(title=title, content=content, activate=True, actor_name="interop")

    @property
    def policy(self) -> PolicyVersion:
        """The version that `use` has activated."""
        return PolicyVersion.objects.get(state=PolicyVersion.State.ACTIVE)

    def row(self) -> ProviderModel:
        """What the database holds of the model now."""
        return ProviderModel.objects.of_policy(self.policy)

    def record_limit(self, tokens: int) -> None:
        """As operations would, for a server that does not tell how much its model reads."""
        today = timezone.now().date()
        record_limit(
            model=self.row(),
            tokens=tokens,
            evidence="https://example.org/limit",
            until=today + timedelta(days=1),
            today=today,
            actor_name="interop",
        )

    def replay(self, report: Report) -> None:
        """New attempts for a report that had spent its own, as `manage.py replay` gives them."""
        everything = Selection()
        plan = replace(plan_replay(everything, policy=self.policy), report_ids=[report.pk])
        for _renewed in execute_replay(
            plan, selection=everything, policy=self.policy, actor_name="interop"
        ):
            pass

    def send(self, body: Mapping[str, Any]) -> Report:
        """A pending report through intake."""
        document = dict(body)
        return accept_report(
            sender=self._sender,
            idempotency_key=uuid.uuid4().hex,
            document=document,
            submission=Submission.model_validate(document),
        ).report

    def put_arrivals_off(self) -> None:
        """Nothing that is pending is due under the active version: history lets arrivals go first."""
        _put_off(Report.objects.pending())

    def ask(self, report: Report, *, meanwhile: Callable[[], None] = lambda: None) -> Came:
        """One attempt, due now whatever the last one said. `meanwhile` runs beside it."""
        for _ in range(3):
            _put_the_others_off(report)
            came = self._attempt(report, meanwhile)
            if came.outcome != Outcome.SPENT:
                break
        return came

    def ask_until(self, report: Report, *, seconds: float) -> Came:
        """Attempts until the fault is not the provider's, for so long."""
        deadline = time.monotonic() + seconds
        while True:
            came = self.ask(report)
            if not came.is_provider_fault or time.monotonic() > deadline:
                return came
            pause = time.monotonic() + 1
            while time.monotonic() < pause:
                self._check()
                time.sleep(0.05)

    def _attempt(self, report: Report, meanwhile: Callable[[], None]) -> Came:
        ended: list[str | BaseException] = []

        def work() -> None:
            try:
                ended.append(classify_report(report_id=report.pk, lane=Lane.LIVE))
            except BaseException as error:  # noqa: BLE001 - told as what came back
                ended.append(error)
            finally:
                connection.close()

        self._heard.lines.clear()
        began = time.monotonic()
        # In a thread, so that Ctrl-C need not wait for a model; it ends with the process.
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        meanwhile()
        while thread.is_alive():
            self._check()
            thread.join(0.05)
        for line in self._heard.lines:
            if told := re.search(r"asked as (\w+)", line):
                self.asked_as = told[1]
        return _what_came(report, ended[0], self._heard.lines, time.monotonic() - began)


def _shortened(content: PolicyContent) -> PolicyContent:
    """Names for guidance, and one sentence with an example for the prompt."""
    short: list[Category] = [{**each, "guidance": each["name"]} for each in content.categories]
    return replace(content, prompt=SHORT_PROMPT, categories=short)


def _what_came(report: Report, end: str | BaseException, heard: list[str], seconds: float) -> Came:
    report.refresh_from_db()
    job = Job.objects.filter(report=report, policy_version=PolicyVersion.objects.active()).first()
    current = Classification.objects.filter(report=report, superseded=False).first()
    waits = (job.not_before.timestamp() - time.time()) if job and job.not_before else 0.0
    reason = job.reason if job and not current else ""
    # The log names the rule that refused, never the text; the columns hold the reason alone.
    told = re.search(rf"{reason}: (\w+)", "\n".join(heard)) if reason else None
    return Came(
        outcome="raised" if isinstance(end, BaseException) else str(end),
        reason=reason,
        detail=told[1] if told else "",
        parked=bool(job and job.parked),
        status=report.status,
        answered_safe=current.safe if current else None,
        waits=waits,
        seconds=seconds,
        error=end if isinstance(end, BaseException) else None,
    )


def _put_the_others_off(report: Report) -> None:
    """A worker may take a more urgent report than the one it was nudged for; here it must not."""
    _put_off(Report.objects.pending().exclude(pk=report.pk))
    Job.objects.filter(done=False, parked=False, report=report).update(not_before=None)


def _put_off(pending: QuerySet[Report]) -> None:
    policy = PolicyVersion.objects.active()
    later = Now() + OUT_OF_THE_WAY
    Job.objects.bulk_create(
        Job(report=each, policy_version=policy, not_before=later)
        for each in pending.exclude(jobs__policy_version=policy)
    )
    Job.objects.filter(done=False, parked=False, report__in=pending).update(not_before=later)


class _Heard(logging.Handler):
    """Keeps the classifier's log lines instead of writing them to standard error."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        logger = logging.getLogger("classifier")
        logger.addHandler(self)
        logger.setLevel(logging.INFO)
        logger.propagate = False

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())
