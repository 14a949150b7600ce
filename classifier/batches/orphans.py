"""Orphans: what the provider took although its answer was lost. Found again, never doubled.

Servers know no idempotency for uploads and batches, so before a request whose fate is unknown is
made again their lists are searched, twice with a while between: a list may lag behind.
"""

from classifier.batches import remote
from classifier.batches.remote import RemoteBatch, RemoteFile
from classifier.models import ProviderBatch

KEY = "moderation_key"
"""The metadata that names our row."""
SEARCHED_ENTRIES = 5_000
LOOKS = 2


def find_file(provider_batch: ProviderBatch) -> RemoteFile | None:
    """The upload under our name; of several the oldest, the rest is deleted."""
    found = [
        file
        for file in remote.each_file(SEARCHED_ENTRIES)
        if file.name == provider_batch.file_name
        and file.bytes in {None, provider_batch.input_bytes}
    ]
    # Newest first is how lists stand.
    for extra in found[:-1]:
        remote.delete_file(extra.id)
    return found[-1] if found else None


def find_batch(provider_batch: ProviderBatch) -> RemoteBatch | None:
    """The batch with our key, or of our file; of several the oldest, the rest is cancelled."""
    found = [
        batch
        for batch in remote.each_batch(SEARCHED_ENTRIES)
        if batch.metadata.get(KEY) == str(provider_batch.key)
        or (batch.input_file_id and batch.input_file_id == provider_batch.input_file_id)
    ]
    for extra in found[:-1]:
        if not extra.status.is_final:
            remote.cancel(extra.id)
    return found[-1] if found else None
