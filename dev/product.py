"""Brings the product up on running services: tables, policy, accounts, then the processes."""

from __future__ import annotations

import http.client
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from dev import programs
from dev.accounts import Accounts, read_accounts
from dev.errors import DevError
from dev.home import open_throwaway_home
from dev.processes import Program, Supervisor, free_port, wait_until
from dev.services import Services, start_services_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


READY_SECONDS = 60.0
HTTP_OK = 200


class Product(NamedTuple):
    """Who may use the product that runs now, a phrase for people about its model, its environment."""

    accounts: Accounts
    model: str
    env: dict[str, str]


@contextmanager
def throwaway_services(*, say: Callable[[str], None]) -> Iterator[tuple[Services, Supervisor]]:
    """Servers on data of their own, and a supervisor; all stopped and deleted at the end."""
    home = open_throwaway_home()
    try:
        services = start_services_in(home, say=say)
        supervisor = Supervisor(home, say=say)
        try:
            yield services, supervisor
        finally:
            supervisor.stop()
            services.stop()
    finally:
        home.close()


def start_product(
    services: Services,
    supervisor: Supervisor,
    *,
    port: int,
    say: Callable[[str], None],
    check: Callable[[], None],
) -> Product:
    """Start everything and return when the web process is ready.

    `check` is asked while waiting and may raise. DevError when a step fails or a process dies.
    """
    env = programs.environment(database_url=services.database_url, redis_url=services.redis_url)

    def starting() -> None:
        check()
        supervisor.check(starting=True)

    def step(program: Program, done: str) -> None:
        began = time.monotonic()
        supervisor.run_step(program, check=starting)
        say(f"{done} {time.monotonic() - began:.1f} s")

    def wait_for(url: str) -> None:
        wait_until(
            lambda: answers_ok(url),
            seconds=READY_SECONDS,
            what=f"{url} did not answer 200",
            check=starting,
        )

    if env.get("OPENAI_BASE_URL"):
        model_port = None
        if not env.get("MODEL"):
            raise DevError(
                f"OPENAI_BASE_URL={env['OPENAI_BASE_URL']} is set but MODEL is not: "
                "set it to the name of a model that this server offers"
            )
        env["OPENAI_API_KEY"] = env.get("OPENAI_API_KEY") or "not-needed"
        model = f"{env['MODEL']} at {env['OPENAI_BASE_URL']}"
    else:
        model_port = free_port()
        env |= programs.standin_environment(model_port)
        supervisor.start(programs.standin(model_port, env=env))
        model = "stand-in, not a model: plain word rules"

    programs.write_environment(services.home.directory / "env", env)
    step(programs.step("migrate", "migrate", "--noinput", env=env), "tables migrated")
    step(programs.step("load_policy", "load_policy", "--activate", env=env), "policy loaded")
    began = time.monotonic()
    workers = [programs.worker(lane, env=env) for lane in programs.LANES]
    behind = (programs.sweep(env=env), programs.reconcile(env=env))
    for program in (*workers, *behind, programs.web(port, env=env)):
        supervisor.start(program)
    file = services.home.directory / "accounts.json"
    step(programs.accounts(file, env=env), "accounts made")
    accounts = read_accounts(file)
    if accounts is None:
        raise DevError(f"{file} cannot be read: delete it and start again")
    if model_port is not None:
        wait_for(f"http://127.0.0.1:{model_port}/v1/models")
    wait_for(f"http://127.0.0.1:{port}/readyz")
    # Else the first verdicts' times would be the workers' time to start.
    logs = [services.home.logs / f"{program.name}.log" for program in workers]
    wait_until(
        lambda: all(says_ready(log) for log in logs),
        seconds=READY_SECONDS,
        what="the workers did not become ready",
        check=starting,
    )
    say(f"web and workers ready {time.monotonic() - began:.1f} s")
    return Product(accounts, model, env)


def says_ready(log: Path) -> bool:
    """Tell whether a Celery worker has written that it takes tasks."""
    return " ready.\n" in log.read_text(encoding="utf-8", errors="replace")


def answers_ok(url: str) -> bool:
    """Tell whether an http:// address of this machine answers 200 now."""
    host, _, path = url.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(host, timeout=5)
    try:
        connection.request("GET", f"/{path}")
        return connection.getresponse().status == HTTP_OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
