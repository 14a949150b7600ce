"""Makes the demo's accounts: `admin`, `reviewer`, `operator`, and a sender with an API key.

`python -m dev.accounts FILE` may run any number of times. Passwords and the key are kept in the
file (mode 0600), because the product stores neither in the clear and shows a key only once.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
from io import StringIO
from pathlib import Path
from typing import TypedDict

import django

SENDER = "demo"
# (name, role, may enter the admin). The demo's admin is a superuser besides, to make accounts.
PEOPLE = (("admin", "admin", True), ("reviewer", "reviewer", False), ("operator", "operator", True))


class Accounts(TypedDict):
    """What the file holds: passwords by user name, the sender's name and its API key."""

    passwords: dict[str, str]
    sender: str
    key: str


def read_accounts(path: Path) -> Accounts | None:
    """Return what an earlier start wrote; None when there is no such file, or half of one."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return Accounts(
            passwords=dict(found["passwords"]), sender=found["sender"], key=found["key"]
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def make_accounts(path: Path) -> Accounts:
    """Bring users, permissions and key in line with the file, and the file with them."""
    known = read_accounts(path)
    passwords = known["passwords"] if known else {}
    for name, role, staff in PEOPLE:
        fresh = name not in passwords
        passwords.setdefault(name, secrets.token_urlsafe(9))
        _make_user(name, passwords[name], fresh=fresh, role=role, staff=staff)
    key = known["key"] if known else ""
    if not key or not _key_is_known(key):
        key = _new_key()
    accounts = Accounts(passwords=passwords, sender=SENDER, key=key)
    _write_private(path, json.dumps(accounts, indent=2) + "\n")
    return accounts


def _make_user(name: str, password: str, *, fresh: bool, role: str, staff: bool) -> None:
    from django.contrib.auth.models import Group, User  # noqa: PLC0415  after django.setup

    user, made = User.objects.get_or_create(username=name)
    user.is_staff, user.is_superuser = staff, role == "admin"
    if fresh or made:  # else it is the one of the file already, and hashing it takes its time
        user.set_password(password)
    user.save()
    user.groups.set(Group.objects.filter(name=role))


def _key_is_known(key: str) -> bool:
    """Ask the product; a file kept beside a new database holds a key nobody knows."""
    from django.test import Client  # noqa: PLC0415  after django.setup

    answer = Client().get(
        "/api/v1/reports/", headers={"authorization": f"Bearer {key}", "host": "localhost"}
    )
    return answer.status_code != 401


def _new_key() -> str:
    from django.core.management import call_command  # noqa: PLC0415  slow, and not for readers

    from reports.models import Sender  # noqa: PLC0415  after django.setup

    command = "issue_key" if Sender.objects.filter(name=SENDER).exists() else "create_sender"
    printed = StringIO()
    call_command(command, SENDER, "--json", stdout=printed)
    return str(json.loads(printed.getvalue())["key"])


def _write_private(path: Path, text: str) -> None:
    draft = path.with_suffix(".new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    draft.replace(path)


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: python -m dev.accounts FILE")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "moderation_site.settings")
    django.setup()
    make_accounts(Path(sys.argv[1]))


if __name__ == "__main__":
    main()
