"""How a kind of server behaves until told otherwise: PUT /manners with some of these fields.

| field | values | what it does |
|---|---|---|
| modes | list of json_schema, json_object, text | the response formats it accepts; absent: all |
| mode_refusal | "400", "422", "500", "ignored", "empty" | how another one is answered, see `refusals` |
| refused_parameters | list of names | a request that has one is refused |
| parameter_style | "openai", "fastapi", "message" | how: 400 with code and param; 422; 400 with a message |
| thinks | "", "tags", "open_tag_missing", "field" | where it thinks aloud, see below |
| echoes_ref | true, false | false: the verdict's ref is made up |
| served_model | name | the model that the answer names |
| context | tokens | the context length of GET /v1/models and of the 400 for a longer prompt |
| models | any JSON | the body of GET /v1/models in place of its own; a text is sent as it is |
| beside | an object, path to body | further GETs, such as "/props", for this query or any; others stay 404 |
| truncates | true, false | true: no such 400; a longer prompt is answered and counted as `context` tokens |
| buries | see `burying` | a share of the violations in one language is called safe |
| misbehave | see `misbehaviour` | a share of the calls gets a random step |
| batches | see `batches.manners` | how its Files and Batch API is, and what comes of a batch |

A request without a response format is accepted by every server. A thought stands before the
verdict's text, in <think> tags or with only the closing one, or as `message.reasoning_content`.
A step of a script comes before `misbehave`, that before a refusal, and a refusal before an answer.
A step built upon the normal answer is built upon the one that these manners give.
"""

from dataclasses import dataclass, field
from typing import Any

from dev.standin.batches.manners import BatchManners, read_batch_manners
from dev.standin.burying import Burying
from dev.standin.checks import (
    BOOLEAN,
    OBJECT,
    POSITIVE,
    SECONDS,
    SHARE,
    TEXT,
    WHOLE,
    Check,
    check_fields,
    one_of,
    some_of,
)
from dev.standin.misbehaviour import Misbehaviour
from dev.standin.steps import KINDS, ScriptError, is_texts

MAX_MODEL_LEN = 32_768
MODES = ("json_schema", "json_object", "text")


@dataclass(frozen=True)
class Manners:
    """The fields of the table; the defaults are those of a well-behaved server."""

    modes: tuple[str, ...] = MODES
    mode_refusal: str = "400"
    refused_parameters: tuple[str, ...] = ()
    parameter_style: str = "openai"
    thinks: str = ""
    echoes_ref: bool = True
    served_model: str | None = None
    context: int = MAX_MODEL_LEN
    models: Any = None
    beside: dict[str, Any] = field(default_factory=dict)
    truncates: bool = False
    buries: Burying | None = None
    misbehave: Misbehaviour | None = None
    batches: BatchManners = field(default_factory=BatchManners)


NORMAL = Manners()


def read_manners(value: Any) -> Manners:
    """The manners in a request's JSON; raises ScriptError."""
    if not isinstance(value, dict):
        raise ScriptError("Manners are a JSON object.")
    check_fields(value, _FIELDS, "Manners")
    fields: dict[str, Any] = {
        name: tuple(one) if isinstance(one, list) else one for name, one in value.items()
    }
    if "buries" in fields:
        check_fields(fields["buries"], _BURIES, "buries")
        fields["buries"] = Burying(**fields["buries"])
    if "misbehave" in fields:
        check_fields(fields["misbehave"], _MISBEHAVE, "misbehave")
        fields["misbehave"] = Misbehaviour(**fields["misbehave"])
    if "batches" in fields:
        fields["batches"] = read_batch_manners(fields["batches"])
    return Manners(**fields)


_FIELDS: dict[str, Check] = {
    "modes": some_of(MODES),
    "mode_refusal": one_of("400", "422", "500", "ignored", "empty"),
    "refused_parameters": (is_texts, "a list of names"),
    "parameter_style": one_of("openai", "fastapi", "message"),
    "thinks": one_of("", "tags", "open_tag_missing", "field"),
    "echoes_ref": BOOLEAN,
    "served_model": (lambda value: isinstance(value, str), "a name"),
    "context": POSITIVE,
    "models": (lambda value: value is not None, "JSON other than null"),
    "beside": (
        lambda value: isinstance(value, dict) and all(path.startswith("/") for path in value),
        "an object of paths that begin with /",
    ),
    "truncates": BOOLEAN,
    "buries": OBJECT,
    "misbehave": OBJECT,
    "batches": OBJECT,
}
_BURIES: dict[str, Check] = {"language": TEXT, "share": SHARE}
_MISBEHAVE: dict[str, Check] = {
    "seed": WHOLE,
    "share": SHARE,
    "slow": SECONDS,
    "kinds": some_of(tuple(sorted(KINDS))),
}
