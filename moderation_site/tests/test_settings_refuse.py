"""In production the settings refuse to start half-configured, and say which key is wrong."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
COMPLETE = {
    "ENVIRONMENT": "production",
    "SECRET_KEY": "s" * 50,
    "EVIDENCE_KEY": "e" * 50,
    "ALLOWED_HOSTS": "moderation.example",
    "DATABASE_URL": "postgres://moderation:word@db.example/moderation",
    "REDIS_URL": "redis://redis.example/0",
    "OPENAI_BASE_URL": "https://model.example/v1",
    "OPENAI_API_KEY": "k",
    "MODEL": "some-model",
}


def start(**changes: str | None) -> subprocess.CompletedProcess[str]:
    """Import the settings in a process of its own; a key that is None is left out."""
    environment = {
        key: value for key, value in {**COMPLETE, **changes}.items() if value is not None
    }
    return subprocess.run(
        [sys.executable, "-c", "import moderation_site.settings"],
        env={"PATH": os.environ["PATH"], **environment},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def test_a_complete_production_environment_starts() -> None:
    assert start().returncode == 0


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"SECRET_KEY": None}, "SECRET_KEY is not set"),
        ({"SECRET_KEY": "short"}, "SECRET_KEY has 5 characters"),
        ({"EVIDENCE_KEY": None}, "EVIDENCE_KEY is not set"),
        (
            {"EVIDENCE_KEY": "placeholder-make-another-secret-of-your-own"},
            "EVIDENCE_KEY still holds",
        ),
        ({"ALLOWED_HOSTS": None}, "ALLOWED_HOSTS is not set"),
        ({"DATABASE_URL": None}, "DATABASE_URL is not set"),
        ({"REDIS_URL": ""}, "REDIS_URL is not set"),
        ({"REDIS_URL": "unix:///run/redis.sock"}, "REDIS_URL must begin with redis://"),
        ({"OPENAI_API_KEY": "placeholder"}, "OPENAI_API_KEY still holds the placeholder"),
        ({"MODEL": None}, "MODEL is not set"),
        ({"DEBUG": "true"}, "DEBUG is on in production"),
        ({"ENVIRONMENT": "staging"}, "ENVIRONMENT is 'staging'"),
        ({"ENVIRONMENT": None, "SECRET_KEY": None}, "SECRET_KEY is not set"),
        ({"VISIBILITY_TIMEOUT_SECONDS": "90"}, "it must be above the lease"),
        ({"RECORDING_SECONDS": "0"}, "it must be above the lease"),
    ],
)
def test_what_is_missing_or_a_placeholder_is_named(
    changes: dict[str, str | None], sentence: str
) -> None:
    ended = start(**changes)

    assert ended.returncode != 0
    assert sentence in ended.stderr.strip().splitlines()[-1]


def test_development_needs_no_secret() -> None:
    assert start(ENVIRONMENT="development", SECRET_KEY=None, EVIDENCE_KEY=None).returncode == 0


def test_the_example_explains_every_key_that_the_settings_read() -> None:
    code = (ROOT / "moderation_site" / "settings.py").read_text()
    read = set(re.findall(r"""(?:env\.\w+|required|secret)\(\s*"([A-Z_]+)\"""", code))
    explained = set(re.findall(r"^#?([A-Z_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))

    assert read == explained


def test_deadline_lease_and_visibility_timeout_stand_in_this_order(settings: object) -> None:
    deadline = settings.MODEL_DEADLINE_SECONDS  # type: ignore[attr-defined]
    lease = settings.LEASE_SECONDS  # type: ignore[attr-defined]
    assert deadline < lease < settings.VISIBILITY_TIMEOUT_SECONDS  # type: ignore[attr-defined]
