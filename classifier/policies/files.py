"""Policies as TOML files."""

import tomllib
from pathlib import Path

from classifier.policies.content import PolicyContent, PolicyContentError, check_policy

FIRST_POLICY = Path(__file__).parents[1] / "policy_files" / "0001.toml"


class PolicyFileError(Exception):
    """The file cannot become a policy version; the message says where and why."""


def read_policy_file(path: Path, *, model: str) -> tuple[str, PolicyContent]:
    """The title and the content; raises `PolicyFileError`."""
    try:
        return check_policy(tomllib.loads(path.read_text("utf-8")), model=model)
    except PolicyContentError as error:
        raise PolicyFileError(f"{path}: {error}") from None
    except OSError as error:
        raise PolicyFileError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:  # of UTF-8 or of TOML
        raise PolicyFileError(f"{path}: not TOML: {error}") from None
