"""Finding out, with a harmless text: how a model wants to be asked, or whether it answers again."""

import logging
import re
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models.functions import Now
from django.utils import timezone

from classifier import cooldown, provider
from classifier.calibration import calibrate
from classifier.capabilities import (
    STEPS,
    OutputLimit,
    answer_room,
    parameters,
    schema_in_prompt,
    without,
)
from classifier.catalogue import effective_limit, sync_model
from classifier.cooldown import LOOK_AGAIN_SECONDS, Turn, TurnLostError
from classifier.models import PolicyVersion, ProviderModel, WaitingReason
from classifier.prompt import Prompt, build_prompt, evidence_of
from classifier.provider import Fault, ProviderError
from classifier.reader import (
    AnswerRefusedError,
    Form,
    UnreadableReplyError,
    read_form,
    read_prompt_tokens,
)
from classifier.verdict import answer_schema
from reports.submission import Submission

log = logging.getLogger(__name__)

Mode = ProviderModel.Mode

_HARMLESS = Submission.model_validate(
    {
        "item": {"type": "probe", "id": "probe"},
        "language": "en",
        "messages": [{"text": "See you at lunch tomorrow, same place as last week?"}],
    }
)
# A question of which only the count of tokens matters. Some servers refuse less room.
COUNTING, COUNTING_TOKENS = "Answer with the word OK.", 16
# What a prompt's reference looks like.
_REF = re.compile(r"[0-9a-f]{16}")


def served_names(policy: PolicyVersion) -> set[str]:
    """The names under which the policy's model may answer."""
    return {policy.model, *settings.MODEL_ALIASES.get(policy.model, ())}


def find_out(
    model: ProviderModel, policy: PolicyVersion, turn: Turn, *, at_each_call: Callable[[], object]
) -> Turn:
    """With the turn in hand: probe the model, or see whether it answers again. Asks no report.

    `at_each_call` is called before each, to keep what else the caller holds. Returns leave to ask,
    or how long to wait and why.
    """
    probe = Probe(model, policy, turn, at_each_call)
    try:
        _read_limit(model)
        if model.wants_probe():
            probe.find_the_mode()
        else:
            probe.see_whether_it_answers()
        _read_limit(model)  # some servers load a model, and know its limit, with the first question
        if model.frame_tokens is None:
            calibrate(model, probe.tokens_read)
    except (ProviderError, AnswerRefusedError, UnreadableReplyError) as error:
        log.warning("model %s does not answer a harmless text: %s", model.name, error)
        reason = _reason(error)
        wait = cooldown.note_fault(
            model=model,
            turn=probe.turn,
            reason=reason,
            retry_after=getattr(error, "retry_after", None),
        )
        return Turn(granted=False, wait=wait or LOOK_AGAIN_SECONDS, reason=reason)
    except TurnLostError:
        return Turn(granted=False, wait=LOOK_AGAIN_SECONDS)
    except BaseException:
        cooldown.give_back(model=model, turn=probe.turn)
        raise
    cooldown.note_answer(model=model, turn=probe.turn)
    # An older call may have been told to wait longer meanwhile.
    after = cooldown.take_turn(model)
    if after.holds:
        cooldown.give_back(model=model, turn=after)
        return Turn(granted=False, wait=LOOK_AGAIN_SECONDS)
    return after


def _read_limit(model: ProviderModel) -> None:
    """Where nobody has said how much it reads."""
    if effective_limit(model, today=timezone.now().date()) is None:
        sync_model(model)


def _reason(error: Exception) -> WaitingReason:
    """On a harmless text even a filter is the provider's fault."""
    if isinstance(error, UnreadableReplyError):
        return WaitingReason.PROVIDER_UNAVAILABLE
    said = error.fault if isinstance(error, ProviderError) else getattr(error, "reason", "")
    known = cooldown.RESTS_AT_ONCE | cooldown.RESTS_IN_A_ROW
    return WaitingReason(said) if said in known else WaitingReason.PROVIDER_REJECTED


class Probe:
    """Calls about a harmless text. The turn is renewed before each, and `turn` is the latest."""

    def __init__(
        self,
        model: ProviderModel,
        policy: PolicyVersion,
        turn: Turn,
        at_each_call: Callable[[], object],
    ) -> None:
        self.model = model
        self.policy = policy
        self.turn = turn
        self.at_each_call = at_each_call

    def see_whether_it_answers(self) -> None:
        """One call in the known way; raises what a report's call would raise."""
        schema = answer_schema(self.policy, with_ref=self.model.echoes_ref)
        self._ask(self._prompt(schema), schema, self._room(more_room=False))

    def find_the_mode(self) -> None:
        """In which mode a harmless text is answered in form, and without which parameters.

        Nothing is recorded where the provider itself is at fault.
        """
        model = self.model
        model.takes_temperature, model.output_limit = True, OutputLimit.MAX_COMPLETION_TOKENS
        for mode in STEPS:
            model.mode = mode
            if self._answers_in_form():
                break
        model.formless = 0
        learnt = {name: getattr(model, name) for name in _LEARNT}
        ProviderModel.objects.filter(pk=model.pk).update(**learnt, probed_at=Now())
        log.info("model %s: asked as %s", model.name, model.mode)

    def _answers_in_form(self) -> bool:
        schema = answer_schema(self.policy, with_ref=True)
        prompt = self._prompt(schema)
        room, more = self._room(more_room=False), self._room(more_room=True)
        form = self._ask(prompt, schema, room)
        if form is not None and form.cut and more > room:
            # It thinks, or talks, longer than an answer is: once more with room for that.
            form = self._ask(prompt, schema, more)
        # A server may take the schema and answer as it likes; an object of other keys shows that.
        if form is None or not isinstance(form.value, dict):
            return False
        if self.model.mode == Mode.JSON_SCHEMA and set(form.value) != set(schema["properties"]):
            return False
        self.model.thinks = self.model.thinks or form.thought
        self._learn_echo(form.value.get("ref"), prompt.ref)
        return True

    def _learn_echo(self, said: object, ref: str) -> None:
        """A garbled reference shows a model too small to copy it; a good one of another prompt
        shows that answers are mixed up, which is what the reference is there for.
        """
        if said == ref or (isinstance(said, str) and _REF.fullmatch(said)):
            return
        self.model.echoes_ref = False
        log.warning(
            "model %s: does not copy the reference; a mixed-up answer would not be noticed",
            self.model.name,
        )

    def _prompt(self, schema: dict[str, Any]) -> Prompt:
        return build_prompt(
            policy=self.policy,
            evidence=evidence_of(_HARMLESS, language="en"),
            schema=schema_in_prompt(self.model, schema),
        )

    def _room(self, *, more_room: bool) -> int:
        limit = effective_limit(self.model, today=timezone.now().date())
        return answer_room(self.model, limit, more_room=more_room)

    def _keep(self) -> None:
        """The turn, and what else the caller holds, for one call more; no connection during it."""
        self.turn = cooldown.keep_turn(self.model, self.turn)
        self.at_each_call()
        connection.close()

    def tokens_read(self, text: str) -> int | None:
        """How many tokens the server says that it read of a short question about this text."""
        asked = parameters(self.model, schema={}, room=COUNTING_TOKENS)
        asked.pop("response_format", None)
        self._keep()
        reply = provider.ask(model=self.policy.model, system=COUNTING, user=text, parameters=asked)
        return read_prompt_tokens(reply.body)

    def _ask(self, prompt: Prompt, schema: dict[str, Any], room: int) -> Form | None:
        """The form of one answer; None where the server will not be asked like this at all.

        Parameters that the server refuses on the way are dropped.
        """
        model = self.model
        while True:
            self._keep()
            try:
                reply = provider.ask(
                    model=self.policy.model,
                    system=prompt.system,
                    user=prompt.user,
                    parameters=parameters(model, schema=schema, room=room),
                )
            except ProviderError as error:
                lesson = without(model, error.parameter or "")
                if "mode" in lesson or error.fault is Fault.ANSWER_INVALID:
                    return None
                if not lesson:
                    if error.fault is Fault.REJECTED and model.mode != Mode.TEXT:
                        return None  # it does not say what it minds; the mode is the likeliest
                    raise
                for field, value in lesson.items():
                    setattr(model, field, value)
            else:
                form = read_form(reply.body)
                if form.served_model not in served_names(self.policy):
                    raise AnswerRefusedError(WaitingReason.WRONG_MODEL, "harmless text")
                return form


_LEARNT = (
    "mode",
    "output_limit",
    "takes_temperature",
    "thinks",
    "echoes_ref",
    "formless",
)
