"""pytest plugin: a throw-away PostgreSQL and Valkey for the run, before the settings are read.

Loaded by `-p dev.pytest_services` in pytest.ini. DATABASE_URL and REDIS_URL set beforehand win;
with both set nothing is started. A kill -9 of pytest stops and removes everything too.
With `-n` each of the processes that run tests has servers of its own.
"""

from __future__ import annotations

import atexit
import os

import pytest

from dev.errors import DevError
from dev.services import Services, start_services

_owner: int | None = None
_services: Services | None = None


def services() -> Services:
    """Return the services of this run; a server given by its address is None in them."""
    if _services is None:
        raise RuntimeError("the services run from pytest's start to its end only")
    return _services


@pytest.fixture(scope="session")
def running_services() -> Services:
    """The PostgreSQL and Valkey of this run, to stop, kill and start again."""
    return services()


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    # pytest-django reads the settings, and with them the addresses, in this same hook.
    global _owner, _services  # noqa: PLW0603  one run a process
    if _services is not None:
        return
    os.environ["ENVIRONMENT"] = "test"
    runs_tests = "PYTEST_XDIST_WORKER" in os.environ
    if getattr(early_config.known_args_namespace, "numprocesses", None) and not runs_tests:
        return  # this process only hands tests out
    try:
        _services = start_services(throwaway=True)
    except DevError as error:
        raise pytest.UsageError(str(error)) from None
    _owner = os.getpid()
    # A usage error after this hook ends pytest without pytest_unconfigure.
    atexit.register(_stop)
    os.environ["DATABASE_URL"] = _services.database_url
    os.environ["REDIS_URL"] = _services.redis_url


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    _stop()


def _stop() -> None:
    # A fork of ours that ends through atexit must not stop the servers of the run.
    if _services is not None and os.getpid() == _owner:
        _services.stop()
