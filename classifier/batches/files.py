"""Where a provider batch's files lie while they are needed: in a directory that only we can read."""

from pathlib import Path

from django.conf import settings

from classifier.models import ProviderBatch

INPUT, OUTPUT, ERRORS = "input", "output", "errors"


def path_of(provider_batch: ProviderBatch, kind: str) -> Path:
    """Of its input, output or errors; the directory is made at need."""
    directory: Path = settings.BATCH_DIRECTORY
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    return directory / f"{provider_batch.key}.{kind}.jsonl"


def remove(provider_batch: ProviderBatch, *kinds: str) -> None:
    """Whatever of them is there."""
    for kind in kinds or (INPUT, OUTPUT, ERRORS):
        path_of(provider_batch, kind).unlink(missing_ok=True)
