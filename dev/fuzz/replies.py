"""What the mutations start from: valid replies of several kinds of server, and how JSON is written.

A JSON value is built from `Pairs` (an object whose keys may come twice), lists, texts, `Raw` (a
piece of text that is written as it stands, JSON or not) and the plain values.
"""

import json
import random
from typing import Any

REF = "5f0c9d2be1a74c66"
MODEL = "stand-in-not-a-model"
SERVED = f"{MODEL}-2026-11"
TEXTS = (
    "See you at lunch.\nالغداء الساعة الثانية",
    'I will find you, "friend" \u202eabc \U0001f468\u200d\U0001f469\u200d\U0001f467',
)
QUOTES = (
    "lunch",
    "الغداء الساعة الثانية",
    "[U+202E]abc",
    "\u202eabc",
    '"friend"',
    "not in any text",
    "",
)
LEAST_TOKENS = 500


class Raw(str):
    """Written as it is."""

    __slots__ = ()


class Pairs(list[tuple[str, Any]]):
    """An object, its keys in order."""


def pairs(fields: dict[str, Any]) -> Pairs:
    """The object with `Pairs` for every one in it."""
    return Pairs((key, _paired(inner)) for key, inner in fields.items())


def _paired(value: Any) -> Any:
    if isinstance(value, dict):
        return pairs(value)
    if isinstance(value, list):
        return [_paired(inner) for inner in value]
    return value


def write(value: Any, *, plain: bool = True, gap: str = " ") -> str:
    """The JSON text. `plain`: signs beyond ASCII stand for themselves; `gap`: after : and ,."""
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, Pairs):
        inner = (f"{write(k, plain=plain)}:{gap}{write(v, plain=plain, gap=gap)}" for k, v in value)
        return "{" + f",{gap}".join(inner) + "}"
    if isinstance(value, list):
        return "[" + f",{gap}".join(write(v, plain=plain, gap=gap) for v in value) + "]"
    return json.dumps(value, ensure_ascii=not plain)


def verdict(chance: random.Random, categories: list[str]) -> Pairs:
    """A valid verdict: now and then in another order, with a category in capitals, with quotes."""
    category = chance.choice(categories)
    found = [
        ("ref", REF),
        ("summary", chance.choice(["Two people meet.", "تهديد صريح.", "A\tb\u200d\u202e.", "x" * 1000])),
        ("category", chance.choice([category, category, category.upper(), f" {category}\n"])),
        ("confidence", chance.choice([0.93, 1, 0, 1.0, 5e-324, Raw("93e-2"), Raw("-0.0"), Raw("1E0")])),
        ("quotes", chance.sample(QUOTES, chance.randrange(len(QUOTES)))),
    ]  # fmt: skip
    if chance.random() < 0.3:
        chance.shuffle(found)
    return Pairs(found)


def envelope(chance: random.Random, content: Any) -> Pairs:
    """A completion as one of several servers sends it."""
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 700, "completion_tokens": 40, "total_tokens": 740}
    whole: dict[str, Any] = {"id": "chatcmpl-1", "object": "chat.completion", "model": MODEL}
    match chance.choice(["openai", "vllm", "llama.cpp", "ollama", "deepseek", "mistral", "bare"]):
        case "openai":
            message |= {"refusal": None, "annotations": []}
            usage["prompt_tokens_details"] = {"cached_tokens": 512}  # type: ignore[assignment]
            whole |= {"created": 1, "model": SERVED, "system_fingerprint": "fp_1"}
            choice["logprobs"] = None
        case "vllm":
            message |= {"reasoning_content": None, "tool_calls": [], "refusal": None}
            choice |= {"stop_reason": None, "logprobs": None}
            whole |= {"created": 1, "prompt_logprobs": None, "kv_transfer_params": None}
        case "llama.cpp":
            whole |= {"created": 1, "timings": {"prompt_ms": 12.5, "predicted_per_second": 80.1}}
        case "ollama":
            message["reasoning"] = "Is it a threat? No."
            whole |= {"created": 1, "system_fingerprint": "fp_ollama"}
        case "deepseek":
            message["reasoning_content"] = '{"category": "spam"}'
            usage["prompt_cache_hit_tokens"] = 0
        case "mistral":
            if isinstance(content, str):
                half = len(content) // 2
                parts = [
                    {"type": "text", "text": part} for part in (content[:half], content[half:])
                ]
                message["content"] = [{"type": "thinking", "thinking": [parts[0]]}, *parts]
        case _:
            return pairs(
                {"model": MODEL, "choices": [{"message": message, "finish_reason": "stop"}]}
            )
    return pairs({**whole, "choices": [choice], "usage": usage})
