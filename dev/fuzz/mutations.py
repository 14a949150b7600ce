"""From a number to the bytes of a reply: valid ones, and such as no server should ever send."""

import json
import random
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from dev.fuzz.replies import REF, SERVED, Pairs, Raw, envelope, verdict, write

# Values in the place of others: as JSON has them, as it must not, and of other types.
ODD: tuple[Any, ...] = (
    *map(Raw, ("NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1e-999", "nan", "01", ".5")),
    *map(Raw, ("5.", "+1", "0x1", "1_000", "0,5", "٠٫٥", "٠", "1e", "--1", "-", "-0", "1.0e+00")),
    *map(Raw, ("True", "None", "undefined", "'none'", "// no", "/* */ 1", '"a" "b"', "", ",")),
    *(Raw("9" * digits) for digits in (20, 99, 100, 101, 5_000)),
    *(Raw("0." + "3" * digits) for digits in (50, 97, 98, 99, 400)),
    *map(Raw, (r'"\ud800"', r'"\udfff\ud800"', r'"\ud83d\ude00"', r'"\u0000"', r'"\u001f"')),
    *map(Raw, (r'"\x41"', r'"\u12"', r'"\u+123"', r'"\u 123"', '"\\', '"\n"', '"\t"', '"\0"')),
    *(True, False, None, 0, 1, -1, 2, 95, 0.5, 1.0000000000000002, -1e-300, 2**31, 2**63),
    *("", " ", "0.9", "90%", "high", "none", "NONE", "ſpam", "spam\0", "spam ", "stop", "text"),
    *("\ufeff", "\u202e", "\u200b" * 3, "\u2028", "\x7f", "\x85", "\ud800", "a" * 65, "تهديد"),
    *([], [[]], ["lunch"], [None], ["a"] * 9, ["a" * 501], [0.5], Pairs(), Pairs([("a", 1)])),
    *(Pairs([("a", 1), ("a", 2)]), Pairs([("type", "text"), ("text", "{}")])),
)
ENORMOUS = (1_001, 50_000, 200_001)
DEPTHS = (29, 30, 31, 32, 33, 100, 1_000, 60_000)
FINISHES = ("length", "content_filter", "error", "refusal", "tool_calls", "STOP", "", None, "eos",
            "end_turn", "stop_sequence", "safety", 0)  # fmt: skip
KEYS = ("ref", "summary", "category", "confidence", "quotes", "choices", "message", "content",
        "Category", "category ", "", "\ufeffref", "__proto__", "finish_reason", "usage", "index",
        "refusal", "model")  # fmt: skip
BLANKS = ("\ufeff", " ", "\n\n", "\r\n", "\t", "\xa0", "\u3000", "\x0c", "\u200b", "\x1c", "\0")
DRESSES: tuple[Callable[[str], str], ...] = (
    lambda text: f"```json\n{text}\n```",
    lambda text: f"```json\r\n{text}\r\n```",
    lambda text: f"```\n{text}\n```",
    lambda text: f"```JSON \t\n{text}\n\n```\n",
    lambda text: f"```python\n{text}\n```",
    lambda text: f"```json {text} ```",
    lambda text: f"```json\n{text}",
    lambda text: f"```json\n{text}\n```\nOr not.",
    lambda text: f"````json\n{text}\n````",
    lambda text: f"~~~json\n{text}\n~~~",
    lambda text: f"<think>Is it? {text}</think>{text}",
    lambda text: f"<think>Is it?\n</think>\n\n{text}",
    lambda text: f"<think></think>{text}",
    lambda text: f"<think>Is it? {text}",
    lambda text: f"Is it? No.</think>{text}",
    lambda text: f"<think>{text}</think>",
    lambda text: f"{text}<think>Or not.</think>",
    lambda text: f" \n<think>a</think>b</think>{text}",
    lambda text: f"<THINK>a</THINK>{text}",
    lambda text: f"{text}{text}",
    lambda text: f"{text}\n{text}",
    lambda text: f"[{text}]",
    lambda text: f"[{text}, {text}]",
    lambda text: f"{text}\nBut it may be a threat.",
    lambda text: f"Here you are: {text}",
    lambda text: f"{text}]",
    lambda text: f"{{{text}",
    lambda text: text[:-1] + ",}",
    lambda text: text[:-2],
    lambda text: text.replace('"', "'"),
    lambda text: text.replace('"', "“"),
    lambda text: text.replace("{", "{ // so\n", 1),
    json.dumps,
    lambda text: f"I'm sorry, I can't. {text}",
    lambda text: f"<|channel|>final<|message|>{text}",
    lambda text: f'{{"verdict": {text}}}',
    lambda text: text.replace("{", '{"category": "spam", ', 1),
)
# They take as long as a hundred others.
VERY_LONG = 0.0005
SPLICES = (
    *(b"\xed\xa0\x80", b"\xc0\x80", b"\xff\xfe", b"\0", b"\xef\xbb\xbf"),
    *(b'"', b"\\", b",", b"e9", b"0", b"\\u0000"),
)
ENCODINGS = (
    "utf-16",
    "utf-16-le",
    "utf-32",
    "utf-32-be",
    "utf-8-sig",
    "utf-7",
    "latin-1",
    "cp1256",
)


def reply(chance: random.Random, categories: list[str]) -> bytes:
    """One whole HTTP body. A fifth of them is left in order, so that both answers are seen."""
    broken = chance.random() < 0.8
    whole = envelope(chance, _content(chance, categories, broken=broken))
    if broken and chance.random() < 0.35:
        change_envelope(chance, whole)
    body = write(whole, plain=chance.random() < 0.5, gap=chance.choice((" ", "", "\n")))
    if broken and chance.random() < VERY_LONG:
        body = cut_in_an_escape(chance)
    if broken and chance.random() < 0.06:
        return body.encode(chance.choice(ENCODINGS), "replace")
    data = body.encode("utf-8", "surrogatepass")
    if broken and chance.random() < 0.25:
        for _change in range(chance.choice((1, 1, 2, 4))):
            data = change_bytes(chance, data)
    return data


def _content(chance: random.Random, categories: list[str], *, broken: bool) -> str:
    """The text that the model is said to have written."""
    said = verdict(chance, categories)
    if broken:
        for _change in range(chance.choice((0, 0, 1, 1, 2))):
            change_tree(chance, said)
    gap = chance.choice((" ", " ", "", "\n  ", "\r\n"))
    text = write(said, plain=chance.random() < 0.5, gap=gap)
    if broken and chance.random() < VERY_LONG:
        text = cut_in_an_escape(chance)
    elif broken and chance.random() < 0.4:
        text = chance.choice(DRESSES)(text)
    elif chance.random() < 0.2:
        text = chance.choice(DRESSES[:3])(text)
    if chance.random() < 0.2:
        text = chance.choice(BLANKS) + text + chance.choice(BLANKS)
    return text


def cut_in_an_escape(chance: random.Random) -> str:
    """Very many escapes in one text, and its end in the middle of the last one."""
    return chance.choice(('"', '{"summary": "', "[")) + '\\"' * chance.randrange(1, 90_000) + "\\"


# --- Changes of what the JSON says


def change_tree(chance: random.Random, tree: Pairs) -> None:
    """One change at any level of the object."""
    target = chance.choice(_containers(tree))
    if not target:
        target.append(
            ("a", chance.choice(ODD)) if isinstance(target, Pairs) else chance.choice(ODD)
        )
        return
    place = chance.randrange(len(target))
    old = target[place]
    new = _odd(chance)
    if not isinstance(target, Pairs):
        change = chance.choice(("replace", "add", "drop", "wrap"))
        if change == "replace":
            target[place] = new
        elif change == "wrap":
            target[place] = [old]
        elif change == "add":
            target.insert(place, new)
        else:
            del target[place]
        return
    key, value = old
    match chance.choice(
        ("replace", "replace", "replace", "twice", "twice", "drop", "rename", "add")
    ):
        case "replace":
            target[place] = (key, new)
        case "twice":
            again = chance.choice((value, new, chance.choice(("none", "spam", 0.99))))
            target.insert(chance.randrange(len(target) + 1), (key, again))
        case "drop":
            del target[place]
        case "rename":
            target[place] = (chance.choice(KEYS), value)
        case _:
            target.insert(place, (chance.choice(KEYS), new))


def _odd(chance: random.Random) -> Any:
    dice = chance.random()
    if dice < 0.004:
        return "x" * chance.choice(ENORMOUS)
    if dice < 0.03:
        depth = chance.choice(DEPTHS)
        opened, closed = chance.choice((("[", "]"), ('{"a":', "}"), ("[", "")))
        return Raw(opened * depth + ("1" if opened != "[" else "") + closed * depth)
    # A copy: what a later change does to it must not reach the next reply.
    return deepcopy(chance.choice(ODD))


def _containers(tree: Any) -> list[Any]:
    """Every object and list of the tree, itself first."""
    found = [tree]
    for child in tree:
        value = child[1] if isinstance(tree, Pairs) else child
        if isinstance(value, list):
            found += _containers(value)
    return found


def change_envelope(chance: random.Random, whole: Pairs) -> None:
    """One change of the envelope: anywhere, or one that real servers were seen to make."""
    if chance.random() < 0.5:
        change_tree(chance, whole)
        return
    fields = dict(whole)
    choice: Pairs = fields["choices"][0]
    message: Pairs = dict(choice)["message"]
    content = dict(message)["content"]
    match chance.randrange(9):
        case 0:
            _set(choice, "finish_reason", chance.choice(FINISHES))
        case 1:
            choice.append(("finish_reason", chance.choice(("stop", "length"))))
        case 2:
            fields["choices"].append(chance.choice((deepcopy(choice), Pairs(), None)))
        case 3:
            parts = [Pairs([("type", chance.choice(("text", "Text", "thinking", 1))),
                            ("text", chance.choice((content, None, 7, "{}", "")))])
                     for _part in range(chance.randrange(3))]  # fmt: skip
            _set(message, "content", parts)
        case 4:
            _set(message, "refusal", chance.choice(("No.", "", False, 0, None, [])))
        case 5:
            _set(whole, "usage", chance.choice((None, Pairs(), Pairs([("prompt_tokens", 499)]),
                 Pairs([("prompt_tokens", _odd(chance))]), [], 7)))  # fmt: skip
        case 6:
            _set(whole, "model", chance.choice(("another", SERVED, "", None, f"{SERVED} ", REF)))
        case 7:
            _set(message, "content", chance.choice((None, "", Pairs(), "\n" * 900, 7)))
        case _:
            whole.append(("error", Pairs([("message", "overloaded")])))


def _set(target: Pairs, key: str, value: Any) -> None:
    target[:] = [(name, old) for name, old in target if name != key] + [(key, value)]


# --- Changes of the bytes


def change_bytes(chance: random.Random, data: bytes) -> bytes:
    """One cut, copy, flip or splice."""
    start = chance.randrange(len(data) + 1)
    end = min(len(data), start + chance.choice((0, 1, 1, 2, 8, 40)))
    before, middle, after = data[:start], data[start:end], data[end:]
    match chance.choice(("random", "drop", "twice", "cut", "append", "flip", "splice")):
        case "random":
            middle = chance.randbytes(chance.randrange(4))
        case "drop":
            middle = b""
        case "twice":
            middle *= 2
        case "cut":
            middle = after = b""
        case "append":
            after += chance.choice((data, b"\0", b"}", b" \n", b"\xef\xbb\xbf", b"null"))
        case "flip":
            middle = bytes(byte ^ 1 << chance.randrange(8) for byte in middle)
        case _:
            middle = chance.choice(SPLICES) + middle
    return before + middle + after
