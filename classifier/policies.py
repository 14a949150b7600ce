"""Policy versions as files: read one, store it as a draft, activate it.

A version's content is its model, prompt, categories, threshold and the revisions of our own rules;
its hash tells whether a file, or the code, says anything new.
"""

import hashlib
import json
import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path

from django.db import connection, transaction
from django.db.models import Max
from django.db.models.functions import Now
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from classifier import prompt, rules
from classifier.models import Category, PolicyVersion
from reports import spelling, triage
from reports.audit import write_audit
from reports.models import Severity

FIRST_POLICY = Path(__file__).parent / "policy_files" / "0001.toml"


class PolicyFileError(Exception):
    """The file cannot become a policy version; the message says where and why."""


class _CategoryFile(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    id: str = Field(pattern=r"^[a-z][a-z_]{0,62}$")
    name: str
    severity: str
    safe: bool = False
    guidance: str


class _PolicyFile(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    title: str = Field(min_length=1, max_length=200)
    safe_threshold: float = Field(ge=0, le=1)
    prompt: str
    categories: list[_CategoryFile] = Field(min_length=2)


@dataclass(frozen=True)
class PolicyContent:
    """All that decides a verdict under a version."""

    model: str
    prompt: str
    categories: list[Category]
    safe_threshold: float
    revisions: dict[str, int]

    def hash(self) -> str:
        """64 hex digits; equal for equal content."""
        canonical = json.dumps(asdict(self), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(canonical.encode()).hexdigest()


def code_revisions() -> dict[str, int]:
    """What of the code decides under a version: the prompt's frame, what is compared, each rule."""
    return {
        "prompt": prompt.REVISION,
        "intake.spelling": spelling.REVISION,
        **{f"intake.{rule.name}": rule.revision for rule in triage.every_rule()},
        **{rule.name: rule.revision for rule in rules.RULES},
    }


def read_policy_file(path: Path, *, model: str) -> tuple[str, PolicyContent]:
    """The title and the content; raises `PolicyFileError`."""
    try:
        parsed = _PolicyFile.model_validate(tomllib.loads(path.read_text("utf-8")))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(step) for step in first["loc"])
        raise PolicyFileError(f"{path}: {where}: {first['msg']}") from None
    except OSError as error:
        raise PolicyFileError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:  # of UTF-8 or of TOML
        raise PolicyFileError(f"{path}: not TOML: {error}") from None
    categories: list[Category] = []
    for each in parsed.categories:
        if each.severity.upper() not in Severity.names:
            raise PolicyFileError(f"{path}: {each.id}: severity {each.severity!r} is not known")
        severity = Severity[each.severity.upper()]
        if each.safe and severity > Severity.NONE:
            raise PolicyFileError(f"{path}: {each.id}: a safe category has severity none")
        categories.append(
            {
                "id": each.id,
                "name": each.name,
                "severity": severity.value,
                "safe": each.safe,
                "guidance": " ".join(each.guidance.split()),
            }
        )
    if len({each["id"] for each in categories}) != len(categories):
        raise PolicyFileError(f"{path}: a category id stands twice")
    if not any(each["safe"] for each in categories):
        raise PolicyFileError(f"{path}: no category is marked safe")
    return parsed.title, PolicyContent(
        model=model,
        prompt=parsed.prompt.strip(),
        categories=categories,
        safe_threshold=parsed.safe_threshold,
        revisions=code_revisions(),
    )


def load_policy(
    *, title: str, content: PolicyContent, activate: bool, actor_name: str
) -> tuple[PolicyVersion, bool]:
    """Store the content as the next version unless the newest one says the same; activate on demand.

    Returns the version and whether anything was changed.
    """
    with transaction.atomic():
        lock_the_line()
        newest = PolicyVersion.objects.order_by("-number").first()
        if newest and newest.content_hash == content.hash():
            version, changed = newest, False
        else:
            highest = PolicyVersion.objects.aggregate(Max("number"))["number__max"] or 0
            version, changed = (
                PolicyVersion(
                    number=highest + 1,
                    title=title,
                    content_hash=content.hash(),
                    **asdict(content),
                ),
                True,
            )
            version.save(force_insert=True)
            write_audit(action="policy_loaded", of=version, actor_name=actor_name)
        if activate and version.state != PolicyVersion.State.ACTIVE:
            _activate(version, actor_name)
            changed = True
    return version, changed


def _activate(version: PolicyVersion, actor_name: str) -> None:
    """Retire the active version, then make this one active; forward only."""
    State = PolicyVersion.State  # noqa: N806 - a class
    PolicyVersion.objects.filter(state=State.ACTIVE).update(state=State.RETIRED)
    PolicyVersion.objects.filter(pk=version.pk).update(state=State.ACTIVE, activated_at=Now())
    version.refresh_from_db()
    write_audit(action="policy_activated", of=version, actor_name=actor_name)


def lock_the_line() -> None:
    """One change of the line of versions at a time."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('policy_versions'))")
