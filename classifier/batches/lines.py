"""One line of a batch's file: the question about one report, as a call would put it."""

import hashlib
import json
import uuid
from dataclasses import dataclass

from django.conf import settings

from classifier.batches.remote import ENDPOINT
from classifier.models import BatchLine, PolicyVersion, ProviderModel, WaitingReason
from classifier.prompt import Marks
from classifier.questions import plan_calls
from classifier.tokens import count
from classifier.windows import TooManyWindowsError
from reports.models import Content, ContentUnreadableError, Report


@dataclass(frozen=True)
class Line:
    """`text` is UTF-8 with its line end; `tokens` what the prompt counts as."""

    text: bytes
    least_tokens: int
    tokens: int


class NoLineError(Exception):
    """The report cannot be asked in one line of a file."""

    def __init__(self, reason: WaitingReason) -> None:
        super().__init__(reason)
        self.reason = reason


def marks_of(custom_id: uuid.UUID) -> Marks:
    """The same ones whenever the line is written or read, and nobody else can work them out."""
    keyed = hashlib.blake2b(
        custom_id.bytes,
        key=settings.EVIDENCE_KEY.encode()[:64],
        digest_size=16,
        person=b"batch line",
    )
    digest = keyed.hexdigest()
    return Marks(ref=digest[:16], boundary=digest[16:])


def build_line(
    *, line: BatchLine, report: Report, policy: PolicyVersion, model: ProviderModel
) -> Line:
    """The question about the report; raises `NoLineError` where one call is not enough.

    `line.job` says why the last try brought nothing. Raises `UnknownLimitError` and
    `PolicyTooLongError`, which are nothing of this report's.
    """
    try:
        question, windows = plan_calls(
            policy=policy, report=report, model=model, after=line.job.reason
        )
    except TooManyWindowsError:
        raise NoLineError(WaitingReason.TOO_LONG) from None
    except (ContentUnreadableError, Content.DoesNotExist):  # gone wrong, or purged
        raise NoLineError(WaitingReason.INTERNAL_ERROR) from None
    if len(windows) != 1:
        raise NoLineError(WaitingReason.TOO_LONG)
    prompt = question.prompt(windows[0], marks=marks_of(line.custom_id))
    body = {
        "model": policy.model,
        "messages": [
            {"role": "system", "content": prompt.system},
            {"role": "user", "content": prompt.user},
        ],
        **question.parameters(),
    }
    asked = {"custom_id": str(line.custom_id), "method": "POST", "url": ENDPOINT, "body": body}
    return Line(
        text=json.dumps(asked, ensure_ascii=False).encode() + b"\n",
        least_tokens=question.least_read(windows[0], prompt),
        tokens=question.count_unchanging(prompt.system) + count(prompt.user, question.counting),
    )
