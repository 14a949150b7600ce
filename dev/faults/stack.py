"""One throw-away installation: own PostgreSQL and Valkey, stand-in model, and Django in this process."""

from __future__ import annotations

import contextlib
import json
import os
from io import StringIO
from typing import TYPE_CHECKING, Any

import psycopg
import redis

from dev import programs
from dev.faults import timing
from dev.faults.processes import Processes, poll
from dev.home import open_throwaway_home
from dev.processes import free_port
from dev.services import Services, start_services_in
from dev.standin.manners import MAX_MODEL_LEN
from dev.standin.server import running_standin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from dev.postgres import Postgres
    from dev.standin.client import Standin
    from dev.valkey import Valkey

# What a case writes, with all that refers to it. The sender and its key stay.
TABLES = (
    "reports_item, reports_reporteridentity, classifier_policyversion, classifier_providermodel"
)


class Stack:
    """What a case works with. `database` and `broker` are the bench's own connections."""

    def __init__(self, services: Services, standin: Standin, processes: Processes) -> None:
        self.services = services
        self.standin = standin
        self.processes = processes
        self.api_key = ""
        self.check: Callable[[], None] = lambda: None
        self.broker = redis.Redis(
            unix_socket_path=services.redis_url.removeprefix("redis+socket://"), socket_timeout=2
        )
        self._database: psycopg.Connection | None = None

    @property
    def postgres(self) -> Postgres:
        assert self.services.postgres is not None  # noqa: S101  the bench takes no given servers
        return self.services.postgres

    @property
    def valkey(self) -> Valkey:
        assert self.services.valkey is not None  # noqa: S101  as above
        return self.services.valkey

    def query(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Rows of one statement; raises `psycopg.OperationalError` while the database is away."""
        try:
            if self._database is None or self._database.closed:
                self._database = self.connect()
            cursor = self._database.execute(sql.encode(), values or None)
            return cursor.fetchall() if cursor.description else []
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            if self._database is not None:
                self._database.close()
                self._database = None
            raise psycopg.OperationalError(str(error)) from None

    def connect(self) -> psycopg.Connection:
        """Another connection of the bench, each statement its own transaction."""
        return psycopg.connect(
            self.services.database_url, autocommit=True, connect_timeout=5, application_name="bench"
        )

    def mend(self) -> None:
        """Both servers are up and willing, whatever the last case did to them."""
        self.valkey.start()
        self.postgres.start()
        self.broker.config_set("maxmemory", 0)
        self.broker.config_set("maxmemory-policy", "noeviction")
        self.broker.client_unpause()

    def clean_slate(self) -> None:
        """No rows, no messages, no scripts, no shots, one active policy version."""
        self.processes.disarm()
        self.query("SET lock_timeout = '20s'")
        self.query(f"TRUNCATE {TABLES} CASCADE")
        self.broker.delete("live", "unacked", "unacked_index")
        self.standin.clear()
        self.activate_policy(programs.STANDIN_MODEL)

    def activate_policy(self, model: str) -> None:
        """Another model is another version of the policy, and it becomes the active one.

        It counts as probed: a probe's call would belong to no report.
        """
        from django.conf import settings  # noqa: PLC0415  after django.setup

        from classifier.models import ProviderModel  # noqa: PLC0415
        from classifier.policies import (  # noqa: PLC0415  after django.setup
            FIRST_POLICY,
            load_policy,
            read_policy_file,
        )

        title, content = read_policy_file(FIRST_POLICY, model=model)
        with fresh_connection():
            ProviderModel.objects.get_or_create(
                base_url=settings.OPENAI_BASE_URL,
                name=model,
                defaults={
                    "mode": ProviderModel.Mode.JSON_SCHEMA,
                    "context_limit": MAX_MODEL_LEN,
                    "context_source": "max_model_len",
                    "token_ratios": {"latin": 0.25, "arabic": 0.25},
                    "frame_tokens": 8,
                },
            )
            load_policy(title=title, content=content, activate=True, actor_name="bench")

    def nudge(self, report_id: int) -> None:
        """Put one more nudge for the report into the queue, as intake does."""
        from reports.nudge import Lane, publish  # noqa: PLC0415  after django.setup

        publish(report_id=report_id, lane=Lane.LIVE)

    def sweep(self) -> None:
        """One tick of the sweep, in this process."""
        from classifier.sweep import sweep_once  # noqa: PLC0415  after django.setup

        with fresh_connection():
            sweep_once()


@contextlib.contextmanager
def fresh_connection() -> Iterator[None]:
    """Django's connection of this process, opened anew: a case may have ended the last one."""
    from django.db import connection  # noqa: PLC0415  after django.setup

    connection.close()
    try:
        yield
    finally:
        connection.close()


@contextlib.contextmanager
def open_stack() -> Iterator[Stack]:
    """Servers, tables, a sender with a key; nothing of the product runs yet. All of it goes at the end."""
    for given in ("DATABASE_URL", "REDIS_URL"):  # faults are for servers of our own
        os.environ.pop(given, None)
    home = open_throwaway_home()
    with contextlib.ExitStack() as ending:
        ending.callback(home.close)
        services = start_services_in(home)
        ending.callback(services.stop)
        standin = ending.enter_context(running_standin(delay=timing.MODEL_DELAY))
        env = {
            **programs.environment(
                database_url=services.database_url, redis_url=services.redis_url
            ),
            **timing.ENVIRONMENT,
            "OPENAI_BASE_URL": standin.base_url,
            "OPENAI_API_KEY": "stand-in",
            "MODEL": programs.STANDIN_MODEL,
        }
        os.environ.update(env)
        processes = Processes(home, env, free_port())
        processes.disarm()
        stack = Stack(services, standin, processes)
        ending.callback(processes.end_all)
        stack.api_key = _set_up_tables()
        yield stack


def _set_up_tables() -> str:
    """Migrate, and make a sender; returns its API key."""
    import django  # noqa: PLC0415  its settings are read from the environment made just before
    from django.core.management import call_command  # noqa: PLC0415

    django.setup()
    said = StringIO()
    with fresh_connection():
        call_command("migrate", verbosity=0)
        call_command("create_sender", "bench", "--json", stdout=said)
    return str(json.loads(said.getvalue())["key"])


def wait_for_broker(stack: Stack) -> None:
    """Until Valkey answers again."""

    def answers() -> bool:
        try:
            return bool(stack.broker.ping())
        except redis.RedisError:
            return False

    poll(answers, seconds=10)
