"""What every test of the product can ask for."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from django.core.cache import cache
from django.db import connection, transaction
from pytest_django import Settings

from classifier.models import PolicyVersion
from classifier.policies import FIRST_POLICY, load_policy, read_policy_file
from classifier.tests.situations import know_model
from dev.standin.client import Standin
from dev.standin.server import running_standin
from reports.tests.sending import Client, make_sender
from reviews.tests.chromium import FOUND, MISSING
from reviews.tests.gate import gate_of

# The same examples each time, without a clock: a busy machine is no finding.
hypothesis.settings.load_profile("ci")

STANDIN_MODEL = "stand-in-not-a-model"


def pytest_report_header() -> str:
    return f"browser tests: {FOUND}" if FOUND else f"browser tests: NOT RUN, {MISSING}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The long files first: of two processes none is left alone with one of them at the end."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


@pytest.fixture(autouse=True)
def _fresh_throttles() -> None:
    cache.clear()


@pytest.fixture
def policy(db: None) -> PolicyVersion:  # noqa: ARG001
    """The first policy version, active, for the stand-in."""
    title, content = read_policy_file(FIRST_POLICY, model=STANDIN_MODEL)
    version, _changed = load_policy(title=title, content=content, activate=True, actor_name="test")
    return version


@pytest.fixture
def client_of_sender(db: None) -> Client:  # noqa: ARG001
    """The API as one sender's engineer calls it."""
    return make_sender("chat-app")


@pytest.fixture
def live_server(live_server: Any) -> Iterator[Any]:
    """The server; the database is emptied once nothing touches it any more, however late it comes."""
    gate = gate_of(live_server.thread.httpd)
    gate.open()
    yield live_server
    gate.shut()


@pytest.fixture(scope="session")
def _standin() -> Iterator[Standin]:
    with running_standin() as standin:
        yield standin


@pytest.fixture
def standin(
    _standin: Standin,
    settings: Settings,
    tmp_path: Path,
    db: None,  # noqa: ARG001
) -> Iterator[Standin]:
    """The stand-in model over real HTTP, probed, with nothing scripted."""
    settings.OPENAI_BASE_URL = _standin.base_url
    settings.BATCH_DIRECTORY = tmp_path / "batches"
    know_model(_standin.base_url)
    yield _standin
    _standin.clear()


def check_constraints_now() -> None:
    """Run the deferred checks inside a test's transaction, which never commits."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


@contextmanager
def undone() -> Iterator[None]:
    """What is done within is undone, so that each try starts from the same rows."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
