"""The line of policy versions: draft -> candidate -> active -> retired, forward only.

Each step is one transaction with its audit row. Whatever has been a candidate never changes; the way
back is a new version.
"""

from dataclasses import asdict
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Max
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from classifier.models import Batch, PolicyVersion
from classifier.policies.content import PolicyContent, changed_rules, content_today
from reports.audit import write_audit

State = PolicyVersion.State


class PolicyVersionError(Exception):
    """The step is refused and nothing was changed; the message says why."""


class NoSuchVersionError(PolicyVersionError):
    pass


class WrongStateError(PolicyVersionError):
    """From the version's state no such step leads on."""


class ChangedMeanwhileError(PolicyVersionError):
    """Somebody saved the draft after it was read."""


class OlderThanActiveError(PolicyVersionError):
    """Verdicts of a higher version stand already, and the highest that answered is current."""


class RulesChangedError(PolicyVersionError):
    """The application's own rules are no longer those that the version lists."""


def load_policy(
    *, title: str, content: PolicyContent, activate: bool, actor_name: str
) -> tuple[PolicyVersion, bool]:
    """Store the content as the next version, unless it stands already; activate on demand.

    It stands where the active version or the newest one says the same. Returns the version and
    whether anything was changed.
    """
    with transaction.atomic():
        lock_the_line()
        version = PolicyVersion.objects.standing(content.hash())
        changed = version is None
        if version is None:
            version = _store(
                content,
                title=title,
                state=State.DRAFT,
                audit={"action": "policy_loaded", "actor_name": actor_name},
            )
        if activate and version.state != State.ACTIVE:
            if version.state == State.DRAFT:
                _freeze(version, content=content)
            _activate(version, actor_name=actor_name)
            changed = True
    return version, changed


def copy_to_draft(*, number: int, actor: User) -> PolicyVersion:
    """A new draft that says what any version says, under the rules of today."""
    with transaction.atomic():
        lock_the_line()
        origin = _lock(number)
        return _store(
            content_today(origin),
            title=origin.title,
            state=State.DRAFT,
            audit={"action": "policy_copied", "actor": actor, "detail": {"of": number}},
        )


def edit_draft(
    *, number: int, title: str, content: PolicyContent, seen_hash: str, actor: User
) -> PolicyVersion:
    """Give a draft another content, if it still is the one that was read: `seen_hash`."""
    with transaction.atomic():
        draft = _lock(number)
        _require(draft, State.DRAFT, _("Version %(number)s is %(state)s: only a draft is edited."))
        if draft.content_hash != seen_hash:
            raise ChangedMeanwhileError(
                _("Version %(number)s was saved by somebody else meanwhile; nothing was changed.")
                % {"number": number}
            )
        draft.title = title
        _write(draft, content)
        write_audit(
            action="policy_edited",
            of=draft,
            actor=actor,
            detail={"content_hash": draft.content_hash},
        )
        return draft


def make_candidate(*, number: int, actor: User) -> PolicyVersion:
    """Freeze a draft: its content stands from here on, and lists the rules of today."""
    with transaction.atomic():
        draft = _lock(number)
        _require(
            draft,
            State.DRAFT,
            _("Version %(number)s is %(state)s: only a draft becomes a candidate."),
        )
        _freeze(draft, content=content_today(draft))
        write_audit(action="policy_made_candidate", of=draft, actor=actor)
        return draft


def activate(*, number: int, actor: User) -> PolicyVersion:
    """Judge under a candidate from now on: retire the active version, cancel what is asked under others."""
    with transaction.atomic():
        lock_the_line()
        version = _lock(number)
        _require(
            version,
            State.CANDIDATE,
            _("Version %(number)s is %(state)s: only a candidate becomes active."),
        )
        active = PolicyVersion.objects.active()
        if active and active.number > number:
            raise OlderThanActiveError(
                _(
                    "Version %(number)s is older than version %(active)s, which is active: verdicts "
                    "under it would never count. Copy it to a new draft."
                )
                % {"number": number, "active": active.number}
            )
        if changed := changed_rules(version):
            raise RulesChangedError(
                _(
                    "Other rules of the application than version %(number)s lists decide by now "
                    "(%(rules)s). Copy it to a new draft."
                )
                % {"number": number, "rules": ", ".join(changed)}
            )
        _activate(version, actor=actor)
        return version


def roll_back(*, number: int, actor: User) -> PolicyVersion:
    """A candidate with the content of a retired version, so that its verdicts are carried over.

    Twice is once: a candidate of this content that waits already is the answer.
    """
    with transaction.atomic():
        lock_the_line()
        retired = _lock(number)
        _require(
            retired,
            State.RETIRED,
            _("Version %(number)s is %(state)s: only what is retired is gone back to."),
        )
        content = content_today(retired)
        if content.hash() != retired.content_hash:
            raise RulesChangedError(
                _(
                    "The rules of the application have changed since version %(number)s (%(rules)s): "
                    "its verdicts cannot be carried over. Copy it to a new draft."
                )
                % {"number": number, "rules": ", ".join(changed_rules(retired))}
            )
        standing = PolicyVersion.objects.standing(content.hash())
        if standing and standing.state in {State.CANDIDATE, State.ACTIVE}:
            return standing
        return _store(
            content,
            title=retired.title,
            state=State.CANDIDATE,
            audit={"action": "policy_rolled_back", "actor": actor, "detail": {"to": number}},
        )


# --- Inside a step's transaction


def lock_the_line() -> None:
    """One change of the line of versions at a time, until the caller's transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('policy_versions'))")


def _lock(number: int) -> PolicyVersion:
    # No key changes: who records a verdict under the version, and may hold its batch, is not locked out.
    version = PolicyVersion.objects.select_for_update(no_key=True).filter(pk=number).first()
    if version is None:
        raise NoSuchVersionError(_("There is no version %(number)s.") % {"number": number})
    return version


def _require(version: PolicyVersion, state: State, refusal: str) -> None:
    if version.state != state:
        raise WrongStateError(
            refusal % {"number": version.number, "state": version.get_state_display()}
        )


def _store(
    content: PolicyContent, *, title: str, state: State, audit: dict[str, Any]
) -> PolicyVersion:
    highest = PolicyVersion.objects.aggregate(Max("number"))["number__max"] or 0
    version = PolicyVersion(
        number=highest + 1,
        title=title,
        state=state,
        content_hash=content.hash(),
        **asdict(content),
    )
    version.save(force_insert=True)
    write_audit(of=version, **audit)
    return version


def _write(draft: PolicyVersion, content: PolicyContent) -> None:
    for field, value in asdict(content).items():
        setattr(draft, field, value)
    draft.content_hash = content.hash()
    draft.save(force_update=True)


def _freeze(draft: PolicyVersion, *, content: PolicyContent) -> None:
    draft.state = State.CANDIDATE
    _write(draft, content)


def _activate(version: PolicyVersion, **who: Any) -> None:
    """Retire the active version, make this one active, and call in what is asked under others."""
    PolicyVersion.objects.filter(state=State.ACTIVE).update(state=State.RETIRED)
    PolicyVersion.objects.filter(pk=version.pk).update(state=State.ACTIVE, activated_at=Now())
    version.refresh_from_db()
    others = Batch.objects.unfinished().exclude(policy_version=version)
    others = others.exclude(state=Batch.State.CANCELLING)
    # Locked in one order: two that cancel batches must not wait for each other.
    ended = list(others.select_for_update(no_key=True).order_by("pk").values_list("pk", flat=True))
    Batch.objects.filter(pk__in=ended).update(
        state=Batch.State.CANCELLING, note=f"policy version {version.number} became active"
    )
    write_audit(
        action="policy_activated",
        of=version,
        detail={"batches_cancelled": ended} if ended else {},
        **who,
    )
