"""What the plain rules make of a text, without a request."""

from typing import Any

from reports.submission import Submission
from reports.tests.sending import report_body
from reports.triage import Floor, find_floor


def submission_saying(*texts: str, **changes: Any) -> Submission:
    """A report whose messages have these texts; keyword arguments replace fields of its body."""
    messages = [{"text": text} for text in texts]
    return Submission.model_validate(report_body(messages=messages, **changes))


def floor_of(*texts: str, **changes: Any) -> Floor:
    """The floor of such a report."""
    return find_floor(submission_saying(*texts, **changes))
