"""The words that servers have for how far a batch is."""

from enum import StrEnum


class RemoteStatus(StrEnum):
    """`UNKNOWN` is a word that nobody here has heard: keep polling, for it ends nothing."""

    WAITING = "waiting"
    RUNNING = "running"
    CANCELLING = "cancelling"
    COMPLETED = "completed"
    FAILED = "failed"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"

    @property
    def is_final(self) -> bool:
        """Nothing will change any more, but that the files' names may be told late."""
        return self in _FINAL

    @property
    def ends_without_files(self) -> bool:
        """It may have ended before a line was looked at."""
        return self in _FINAL and self is not RemoteStatus.COMPLETED


_FINAL = frozenset(
    {
        RemoteStatus.COMPLETED,
        RemoteStatus.FAILED,
        RemoteStatus.EXPIRED,
        RemoteStatus.CANCELLED,
    }
)

# OpenAI's own, Azure's and vLLM's proxies' alike; then Together (upper case), Novita (PROGRESS),
# Maritaca (queued, running, succeeded), Mistral (QUEUED, SUCCESS, TIMEOUT_EXCEEDED,
# CANCELLATION_REQUESTED), and what Google writes behind JOB_STATE_.
_WORDS = {
    RemoteStatus.WAITING: "validating queued pending created submitted not_started scheduled",
    RemoteStatus.RUNNING: "in_progress running progress processing finalizing finalising started",
    RemoteStatus.CANCELLING: "cancelling canceling cancellation_requested",
    RemoteStatus.COMPLETED: "completed complete succeeded success",
    RemoteStatus.FAILED: "failed failure",
    RemoteStatus.EXPIRED: "expired timeout_exceeded",
    RemoteStatus.CANCELLED: "cancelled canceled",
}
_MEANINGS = {word: status for status, words in _WORDS.items() for word in words.split()}


def read_status(word: object) -> RemoteStatus:
    """What a server's word means, in whatever case it is written."""
    if not isinstance(word, str):
        return RemoteStatus.UNKNOWN
    plain = word.strip().casefold().removeprefix("job_state_").replace("-", "_").replace(" ", "_")
    return _MEANINGS.get(plain, RemoteStatus.UNKNOWN)
