"""How a model wants to be asked: learnt from an error once, read by every call.

Every step goes one way (schema, then object, then the prompt alone; a refused parameter is never
sent again), so nothing here can loop. `classifier.probing` starts anew: at a model's first need,
after a day of being asked in a weaker way, and by a person's wish (`forget`).
"""

import logging
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from classifier.limits import Limit
from classifier.models import ProviderModel
from classifier.provider import ProviderError
from reports.audit import write_audit

log = logging.getLogger(__name__)

Mode, OutputLimit = ProviderModel.Mode, ProviderModel.OutputLimit

# An answer is a summary, quotes and little else; thoughts come on top and share the limit.
ANSWER_TOKENS = 2_000
THOUGHT_TOKENS = 16_000
# Answers without form in a row after which the mode is in doubt.
FORMLESS_UNTIL_STEP = 3

STEPS = (Mode.JSON_SCHEMA, Mode.JSON_OBJECT, Mode.TEXT)


def parameters(model: ProviderModel, *, schema: dict[str, Any], room: int) -> dict[str, Any]:
    """The request's fields beside model and messages, for a model in a known mode.

    `room`: how many tokens the answer may have.
    """
    found: dict[str, Any] = {}
    if model.mode == Mode.JSON_SCHEMA:
        found["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "verdict", "strict": True, "schema": schema},
        }
    elif model.mode == Mode.JSON_OBJECT:
        found["response_format"] = {"type": "json_object"}
    if model.output_limit != OutputLimit.NONE:
        found[model.output_limit] = room
    if model.takes_temperature:
        found["temperature"] = 0
    return found


def answer_room(model: ProviderModel, limit: Limit | None, *, more_room: bool) -> int:
    """Tokens that an answer may have: of a limit that holds both, a fair share.

    `more_room`: an earlier answer was cut, so it gets that of a model that thinks.
    """
    thinks = model.thinks or more_room
    room = ANSWER_TOKENS + (THOUGHT_TOKENS if thinks else 0)
    if limit is None or not limit.counts_answer:
        return room
    return min(room, limit.tokens // (2 if thinks else 4))


def schema_in_prompt(model: ProviderModel, schema: dict[str, Any]) -> dict[str, Any] | None:
    """The schema where the prompt has to carry it."""
    return None if model.mode == Mode.JSON_SCHEMA else schema


def learn_from_error(model: ProviderModel, error: ProviderError) -> bool:
    """Never to send a parameter again that the server would not have. False: nothing to learn."""
    parameter = error.parameter or ""
    lesson = without(model, parameter)
    # Of two workers with the same lesson one writes it.
    before = {field: getattr(model, field) for field in lesson}
    if lesson and ProviderModel.objects.filter(pk=model.pk, **before).update(**lesson):
        log.info("model %s: without %s from now on", model.name, parameter)
    return bool(lesson)


def without(model: ProviderModel, parameter: str) -> dict[str, Any]:
    """What changes in the row so that the parameter is not sent again; empty: it was not sent."""
    if parameter == "temperature" and model.takes_temperature:
        return {"takes_temperature": False}
    if parameter == model.output_limit:
        # Old servers know the old name only; some know neither.
        older = parameter == OutputLimit.MAX_COMPLETION_TOKENS
        return {"output_limit": OutputLimit.MAX_TOKENS if older else OutputLimit.NONE}
    if parameter == "response_format" and model.mode in STEPS[:-1]:
        return {"mode": _weaker(model.mode)}
    return {}


def _weaker(mode: str) -> str:
    return STEPS[STEPS.index(Mode(mode)) + 1]


def learn_form(model: ProviderModel, *, thought: bool, formless: bool) -> None:
    """What an answer told of its model. Enough answers without form put the mode in doubt."""
    rows = ProviderModel.objects.filter(pk=model.pk)
    if thought and not model.thinks:
        rows.update(thinks=True)
    if not formless:
        if model.formless:
            rows.update(formless=0)
        return
    rows.update(formless=F("formless") + 1)
    # A server may take a mode and ignore it. A day later the probe may find it mended.
    in_doubt = model.mode in STEPS[:-1] and model.formless + 1 >= FORMLESS_UNTIL_STEP
    if in_doubt and rows.filter(mode=model.mode).update(
        mode=_weaker(model.mode), formless=0, probed_at=Now()
    ):
        log.warning("model %s: does not keep to the form %s", model.name, model.mode)


def learn_batches(model: ProviderModel, *, offered: bool) -> None:
    """Whether its provider takes batches, as it said just now."""
    model.takes_batches = offered
    ProviderModel.objects.filter(pk=model.pk).update(takes_batches=offered, batches_seen_at=Now())


def forget(*, model: ProviderModel, actor: User | None = None, actor_name: str = "") -> None:
    """Probe it again before the next question; what errors taught is forgotten as well."""
    with transaction.atomic():
        ProviderModel.objects.filter(pk=model.pk).update(
            mode="",
            formless=0,
            output_limit=OutputLimit.MAX_COMPLETION_TOKENS,
            takes_temperature=True,
            thinks=False,
            probed_at=None,
            turn_until=None,
        )
        write_audit(action="probe_wanted", of=model, actor=actor, actor_name=actor_name)
