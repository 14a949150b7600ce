"""Where a provider batch's files lie while they are needed: in a directory that only we can read."""

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from classifier.models import ProviderBatch

INPUT, OUTPUT, ERRORS = "input", "output", "errors"
MODE = 0o600


def path_of(provider_batch: "ProviderBatch", kind: str) -> Path:
    """Of its input, output or errors; the directory is made at need.

    Raises OSError where the directory cannot be ours alone.
    """
    directory: Path = settings.BATCH_DIRECTORY
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    _keep_to_ourselves(directory)
    return directory / f"{provider_batch.key}.{kind}.jsonl"


def begin(path: Path) -> None:
    """Make it an empty file that only we can read, whatever stood there."""
    path.unlink(missing_ok=True)
    path.touch(mode=MODE, exist_ok=False)


def remove(provider_batch: "ProviderBatch", *kinds: str) -> None:
    """Whatever of them is there."""
    for kind in kinds or (INPUT, OUTPUT, ERRORS):
        path_of(provider_batch, kind).unlink(missing_ok=True)


def _keep_to_ourselves(directory: Path) -> None:
    """The place may be known to others before us: in a directory for all, anybody may make it."""
    found = directory.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise PermissionError(0, "BATCH_DIRECTORY is not a directory of this user", str(directory))
    if found.st_mode & 0o077:
        directory.chmod(0o700)
