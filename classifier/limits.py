"""How much a model reads, as each kind of server words it. Pure: bytes and JSON in, a `Limit` out.

Where a field is absent or absurd there is no limit: nothing here knows a number for any model, and
no family's name stands for one.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from classifier import strict_json
from classifier.strict_json import StrictJSONError

# Bounds of what is believed at all, not anybody's limit.
LEAST_TOKENS, MOST_TOKENS = 256, 16_000_000

# What the model was trained for; the server may have loaded it with less. Only for want of better.
_TRAINED = "meta.n_ctx_train"
_LM_STUDIO_MOST = "/api/v0/models max_context_length"
# Prompt and answer together.
_WHOLE = (
    "meta.n_ctx",  # llama.cpp
    "max_model_len",  # vLLM, SGLang
    "context_window",  # Groq
    "top_provider.context_length",  # OpenRouter, beside the next
    "context_length",  # OpenRouter, Together, Fireworks
    "max_context_length",  # Mistral
)
# The prompt alone.
_INPUT_ONLY = ("max_input_tokens", "inputTokenLimit")  # LiteLLM and Anthropic, Gemini
_SHUTDOWN = ("shutdown_date", "retires_at", "deprecation")  # OpenAI, Anthropic, Mistral
# vLLM and llama.cpp make these anew at each request, llama.cpp's router the last at each loading.
_PASSING = frozenset({"created", "permission", "status"})


@dataclass(frozen=True)
class Limit:
    """`tokens` that a model takes; `source` is where that stands, at most 64 characters."""

    tokens: int
    source: str
    counts_answer: bool = True
    """Do the answer's tokens count as well? Else the prompt's alone."""

    @property
    def is_trained(self) -> bool:
        """True for what the model could do, where the server may have loaded it with less."""
        return self.source in {_TRAINED, _LM_STUDIO_MOST}


def smallest(limits: Iterable[Limit]) -> Limit | None:
    """The limit that keeps to all of them.

    A small one for the prompt beside a larger one for the whole (TGI: 4,095 and 4,096) leaves no
    room for an answer by itself, so then the answer counts.
    """
    found = list(limits)
    if not found:
        return None
    least = min(found, key=lambda limit: limit.tokens)
    return Limit(least.tokens, least.source, any(limit.counts_answer for limit in found))


# --- The list


def read_list(body: bytes) -> list[Mapping[str, Any]]:
    """The models in `{"data": […]}` or a bare list; raises `StrictJSONError` where there is none.

    llama.cpp sends a `models` of another shape beside `data`. No further page is followed.
    """
    found = _loads(body)
    entries = found.get("data") if isinstance(found, Mapping) else found
    if not isinstance(entries, list):
        raise StrictJSONError("not_a_list")
    return [entry for entry in entries if isinstance(entry, Mapping)]


def find_entry(entries: Iterable[Mapping[str, Any]], name: str) -> Mapping[str, Any] | None:
    """The entry with exactly this id. A server's only model under another id is another model."""
    return next((entry for entry in entries if entry.get("id") == name), None)


def read_limit(entry: Mapping[str, Any]) -> Limit | None:
    """The smallest limit that the entry states; the training one only where no other is."""
    stated = [_limit(entry, path) for path in _WHOLE]
    stated += [_limit(entry, path, counts_answer=False) for path in _INPUT_ONLY]
    return smallest(limit for limit in stated if limit) or _limit(entry, _TRAINED)


def read_shutdown(entry: Mapping[str, Any]) -> date | None:
    """The first day that one of the known fields names, where it is an ISO 8601 date or time."""
    found = []
    for field in _SHUTDOWN:
        try:
            found.append(datetime.fromisoformat(entry[field]).date())
        except (KeyError, TypeError, ValueError):
            continue
    return min(found, default=None)


def hash_entry(entry: Mapping[str, Any]) -> str:
    """SHA-256 (hex) of the entry's canonical JSON, without what servers make anew each time."""
    lasting = {key: value for key, value in entry.items() if key not in _PASSING}
    text = json.dumps(lasting, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


# --- Beside the list


def read_beside(place: "Beside", body: bytes, name: str) -> Limit | None:
    """What a side endpoint says of the model; None for whatever else it may have answered."""
    try:
        found = _loads(body)
    except StrictJSONError:
        return None
    return place.read(found, name)


def _llama_cpp(found: Any, _name: str) -> Limit | None:
    # In router mode, with no model loaded, this is 0.
    return _limit(found, "default_generation_settings.n_ctx", at="/props ")


def _tgi(found: Any, name: str) -> Limit | None:
    if _at(found, "model_id") not in {None, name}:
        return None  # a gateway's other server
    both = (
        _limit(found, "max_total_tokens", at="/info "),
        _limit(found, "max_input_tokens", at="/info ", counts_answer=False),
    )
    return smallest(limit for limit in both if limit)


def _lm_studio(found: Any, name: str) -> Limit | None:
    entry = next((each for each in _each(found, "data") if each.get("id") == name), None)
    loaded = _limit(entry, "loaded_context_length", at="/api/v0/models ")
    return loaded or _limit(entry, "max_context_length", at="/api/v0/models ")


def _ollama(found: Any, name: str) -> Limit | None:
    # `/api/show` is not asked: it tells what the model was trained for (40,960), and Ollama cuts
    # what is longer than it was loaded with (4,096) in silence.
    named = (
        each for each in _each(found, "models") if name in {each.get("name"), each.get("model")}
    )
    return _limit(next(named, None), "context_length", at="/api/ps ")


def _litellm(found: Any, name: str) -> Limit | None:
    # One name may stand for several deployments. The numbers are LiteLLM's own table's.
    stated = (
        _limit(each.get("model_info"), "max_input_tokens", at="/model/info ", counts_answer=False)
        for each in _each(found, "data")
        if each.get("model_name") == name
    )
    least = smallest(limit for limit in stated if limit)
    return least and Limit(least.tokens, f"{least.source}, untrusted", counts_answer=False)


@dataclass(frozen=True)
class Beside:
    """A side endpoint of one kind of server: its path, and how its JSON is read."""

    path: str
    """From the root of the host; `{name}` is the model's, quoted."""
    read: Callable[[Any, str], Limit | None]


BESIDE = (
    Beside("/props?model={name}", _llama_cpp),  # without the router, the query is ignored
    Beside("/info", _tgi),
    Beside("/api/v0/models", _lm_studio),
    Beside("/api/ps", _ollama),
    Beside("/model/info", _litellm),
)


# --- Values that nobody vouches for


def _loads(body: bytes) -> Any:
    try:
        return strict_json.loads(body.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise StrictJSONError("not_utf8") from None


def _at(value: Any, path: str) -> Any:
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _each(value: Any, key: str) -> list[Mapping[str, Any]]:
    found = _at(value, key)
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []


def _limit(value: Any, path: str, *, at: str = "", counts_answer: bool = True) -> Limit | None:
    tokens = _tokens(_at(value, path))
    return None if tokens is None else Limit(tokens, f"{at}{path}", counts_answer)


def _tokens(value: Any) -> int | None:
    """A believable whole number, as JSON's or in ASCII digits (Together, Azure)."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 8:
        value = int(value)
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and LEAST_TOKENS <= value <= MOST_TOKENS else None
