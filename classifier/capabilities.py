"""How a model wants to be asked: probed once, learnt from an error once, read by every call.

Every step goes one way (schema, then object, then the prompt alone; a refused parameter is never
sent again), so nothing here can loop. `forget` starts anew, by a person's wish.
"""

import logging
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from classifier import provider
from classifier.models import PolicyVersion, ProviderModel
from classifier.prompt import build_prompt
from classifier.provider import Fault, ProviderError
from classifier.reader import Form, read_form
from classifier.verdict import answer_schema
from reports.audit import write_audit
from reports.submission import Submission

log = logging.getLogger(__name__)

Mode, OutputLimit = ProviderModel.Mode, ProviderModel.OutputLimit

# An answer is a summary, quotes and little else; thoughts come on top and share the limit.
ANSWER_TOKENS = 2_000
THOUGHT_TOKENS = 16_000
# Answers without form in a row after which the mode is in doubt.
FORMLESS_UNTIL_STEP = 3

_STEPS = (Mode.JSON_SCHEMA, Mode.JSON_OBJECT, Mode.TEXT)
_HARMLESS = Submission.model_validate(
    {
        "item": {"type": "probe", "id": "probe"},
        "language": "en",
        "messages": [{"text": "See you at lunch tomorrow, same place as last week?"}],
    }
)


def parameters(model: ProviderModel, *, schema: dict[str, Any], more_room: bool) -> dict[str, Any]:
    """The request's fields beside model and messages, for a model in a known mode.

    `more_room`: an earlier answer was cut, so the limit is the one of a model that thinks.
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
        found[model.output_limit] = _room(model, more_room=more_room)
    if model.takes_temperature:
        found["temperature"] = 0
    return found


def _room(model: ProviderModel, *, more_room: bool) -> int:
    """Tokens that an answer may have."""
    thoughts = (model.thinks or more_room) and not model.little_room
    return ANSWER_TOKENS + (THOUGHT_TOKENS if thoughts else 0)


def schema_in_prompt(model: ProviderModel, schema: dict[str, Any]) -> dict[str, Any] | None:
    """The schema where the prompt has to carry it."""
    return None if model.mode == Mode.JSON_SCHEMA else schema


def learn_from_error(model: ProviderModel, error: ProviderError, *, more_room: bool) -> bool:
    """How not to ask again: without a parameter, with less room. False: nothing to learn."""
    parameter = error.parameter or ""
    lesson = _without(model, parameter)
    if error.fault is Fault.TOO_LONG and _room(model, more_room=more_room) > ANSWER_TOKENS:
        # A small server's limit is of prompt and answer together.
        parameter, lesson = "room for thoughts", {"little_room": True}
    # Of two workers with the same lesson one writes it.
    before = {field: getattr(model, field) for field in lesson}
    if lesson and ProviderModel.objects.filter(pk=model.pk, **before).update(**lesson):
        log.info("model %s: without %s from now on", model.name, parameter)
    return bool(lesson)


def _without(model: ProviderModel, parameter: str) -> dict[str, Any]:
    """What changes in the row so that the parameter is not sent again; empty: it was not sent."""
    if parameter == "temperature" and model.takes_temperature:
        return {"takes_temperature": False}
    if parameter == model.output_limit:
        # Old servers know the old name only; some know neither.
        older = parameter == OutputLimit.MAX_COMPLETION_TOKENS
        return {"output_limit": OutputLimit.MAX_TOKENS if older else OutputLimit.NONE}
    if parameter == "response_format" and model.mode in _STEPS[:-1]:
        return {"mode": _weaker(model.mode)}
    return {}


def _weaker(mode: str) -> str:
    return _STEPS[_STEPS.index(Mode(mode)) + 1]


def learn_from_answer(model: ProviderModel, *, thought: bool, formless: bool) -> None:
    """What an answer told of its model. Enough answers without form put the mode in doubt."""
    rows = ProviderModel.objects.filter(pk=model.pk)
    if thought and not model.thinks:
        rows.update(thinks=True)
    if not formless:
        if model.formless:
            rows.update(formless=0)
        return
    rows.update(formless=F("formless") + 1)
    # A server may take a mode and ignore it.
    in_doubt = model.mode in _STEPS[:-1] and model.formless + 1 >= FORMLESS_UNTIL_STEP
    if in_doubt and rows.filter(mode=model.mode).update(mode=_weaker(model.mode), formless=0):
        log.warning("model %s: does not keep to the form %s", model.name, model.mode)


def probe(model: ProviderModel, policy: PolicyVersion) -> None:
    """Find out in which mode a harmless text is answered in form, and record it.

    Raises `ProviderError` or `UnreadableReplyError` where the provider itself is at fault; then
    nothing is recorded.
    """
    for mode in _STEPS:
        model.mode = mode
        if _answers_in_form(model, policy):
            break
    model.probed_at, model.formless = Now(), 0
    model.save(
        update_fields=[
            "mode",
            "output_limit",
            "takes_temperature",
            "thinks",
            "little_room",
            "probed_at",
            "formless",
        ]
    )
    log.info("model %s: asked as %s", model.name, model.mode)


def _answers_in_form(model: ProviderModel, policy: PolicyVersion) -> bool:
    """Does it answer in the row's mode? Parameters that it refuses on the way are dropped."""
    schema = answer_schema(policy, with_ref=model.echoes_ref)
    form = _ask_harmless(model, policy, schema, more_room=False)
    if form is not None and form.cut:
        # It thinks, or talks, longer than an answer is: once more with room for that.
        form = _ask_harmless(model, policy, schema, more_room=True)
    if form is None:
        return False
    model.thinks = model.thinks or form.thought
    # A server may take the schema and answer as it likes; an object of other keys shows that.
    return isinstance(form.value, dict) and (
        model.mode != Mode.JSON_SCHEMA or set(form.value) == set(schema["properties"])
    )


def _ask_harmless(
    model: ProviderModel, policy: PolicyVersion, schema: dict[str, Any], *, more_room: bool
) -> Form | None:
    """The form of one answer; None where the server will not be asked like this at all."""
    prompt = build_prompt(
        policy=policy,
        submission=_HARMLESS,
        language="en",
        schema=schema_in_prompt(model, schema),
    )
    while True:
        try:
            reply = provider.ask(
                model=policy.model,
                system=prompt.system,
                user=prompt.user,
                parameters=parameters(model, schema=schema, more_room=more_room),
            )
        except ProviderError as error:
            lesson = _without(model, error.parameter or "")
            if "mode" in lesson:
                return None
            if error.fault is Fault.TOO_LONG and more_room:
                model.little_room = True
                return None
            if not lesson:
                if error.fault is Fault.REJECTED and model.mode != Mode.TEXT:
                    return None  # it does not say what it minds; the mode is the likeliest
                raise
            for field, value in lesson.items():
                setattr(model, field, value)
        else:
            return read_form(reply.body)


def forget(*, model: ProviderModel, actor: User | None = None, actor_name: str = "") -> None:
    """Probe it again before the next question; what errors taught is forgotten as well."""
    with transaction.atomic():
        ProviderModel.objects.filter(pk=model.pk).update(
            mode="",
            formless=0,
            output_limit=OutputLimit.MAX_COMPLETION_TOKENS,
            takes_temperature=True,
            thinks=False,
            little_room=False,
            probed_at=None,
        )
        write_audit(action="probe_wanted", of=model, actor=actor, actor_name=actor_name)
