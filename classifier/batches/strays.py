"""Files that were left at the provider: of batches that were made twice, given up, or never heard of.

They hold content, so they do not stay. Only what carries one of our keys is touched.
"""

import logging
import re
import uuid
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from classifier.batches import remote
from classifier.batches.orphans import KEY, SEARCHED_ENTRIES
from classifier.models import ProviderBatch, ProviderModel
from classifier.provider import ProviderError

log = logging.getLogger(__name__)

DONE_FOR = timedelta(days=1)
# Of a key that we do not know: from before a backup was restored, or another installation's, which
# has long heard of its batch by then.
UNKNOWN_FOR = timedelta(days=7)
MOST_AT_ONCE = 100
_NAME = re.compile(r"mod-([0-9a-f-]{36})\.jsonl")


def delete_strays(*, between: Callable[[], object]) -> int:
    """Delete what was left, at most a hundred files; how many.

    A fault of the provider's is logged and ends it: what remains is met the next time.
    """
    takes_batches = ProviderModel.objects.filter(
        base_url=settings.OPENAI_BASE_URL, takes_batches=True
    )
    if not settings.BATCH_API or not takes_batches.exists():
        return 0
    deleted = 0
    try:
        for stray in _strays():
            if deleted == MOST_AT_ONCE:
                break
            deleted += remote.delete_file(stray)
            between()
    except ProviderError as error:
        log.warning("files left at the provider: %s", error)
    if deleted:
        log.info("files left at the provider: %s deleted", deleted)
    return deleted


def _strays() -> Iterator[str]:
    yield from _inputs()
    yield from _answers()


def _inputs() -> Iterator[str]:
    """Uploads under our names whose batch is done, or unknown here."""
    found: list[tuple[remote.RemoteFile, uuid.UUID]] = []
    for file in remote.each_file(SEARCHED_ENTRIES):
        name = _NAME.fullmatch(file.name)
        if name and (key := _key(name[1])):
            found.append((file, key))
    rows = _rows(key for _file, key in found)
    for file, key in found:
        age = timezone.now() - file.created_at if file.created_at else timedelta(0)
        row = rows.get(key)
        is_done = row is not None and row.state == ProviderBatch.State.DONE
        if (is_done and age > DONE_FOR) or (row is None and age > UNKNOWN_FOR):
            yield file.id


def _answers() -> Iterator[str]:
    """Outputs and error files of batches that ended and that nobody here waits for."""
    found = [
        (batch, key)
        for batch in remote.each_batch(SEARCHED_ENTRIES)
        if batch.status.is_final and (key := _key(batch.metadata.get(KEY, "")))
    ]
    rows = _rows(key for _batch, key in found)
    wanted_by_nobody: set[str] = set()
    for batch, key in found:
        row = rows.get(key)
        if row is None:
            continue
        is_extra = row.remote_id not in {"", batch.id}
        if is_extra or row.state == ProviderBatch.State.DONE:
            wanted_by_nobody |= {batch.output_file_id or "", batch.error_file_id or ""} - {""}
    if wanted_by_nobody:
        # A batch goes on naming files that are long deleted.
        for file in remote.each_file(SEARCHED_ENTRIES, purpose="batch_output"):
            if file.id in wanted_by_nobody:
                yield file.id


def _rows(keys: Iterable[uuid.UUID]) -> dict[uuid.UUID, ProviderBatch]:
    return {row.key: row for row in ProviderBatch.objects.filter(key__in=set(keys))}


def _key(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:
        return None
