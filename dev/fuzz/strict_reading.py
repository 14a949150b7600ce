"""What a strict reading of JSON makes of a reply: the verdict in it, or nothing.

Written from RFC 8259 and the contract of the answer, character by character and key by key, without
the standard library's parser, regular expressions or pydantic: what two readings this different
agree on is not the slip of one of them. The only repairs are those that the contract allows: outer
white space and a byte order mark, one fence around everything, one leading thought, a category's
case, a list of text parts.
"""

import unicodedata
from typing import Any

from classifier.reader import Expected

DEEPEST = 32
LONGEST_NUMBER = 100
LONGEST_CONTENT = 200_000
LARGEST_COUNT = 2**31 - 1
_BLANK = " \t\n\r"
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HEX = "0123456789abcdefABCDEF"
_DIGITS = "0123456789"
_KEPT_SIGNS = "\u200c\u200d"


class NotStrictError(Exception):
    """The text is not what the contract asks for."""


def require(condition: object) -> None:
    if not condition:
        raise NotStrictError


def strict_verdict(body: bytes, expected: Expected) -> dict[str, Any] | None:
    """`summary, category, confidence, quotes` of a reply that is in order in every way, else None."""
    try:
        try:
            text = body.decode("utf-8")
        except UnicodeDecodeError:
            return None
        content = _content(read_json(text[1:] if text[:1] == "\ufeff" else text), expected)
        return _verdict(read_json(_undressed(content, thinks=expected.thinks)), expected)
    except NotStrictError:
        return None


# --- JSON


def read_json(text: str) -> Any:
    """The one JSON value that is the whole text; NotStrictError where there is none."""
    reader = _Reader(text)
    value = reader.value(0)
    reader.skip_blanks()
    require(reader.at == len(text))
    return value


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def take(self, sign: str) -> None:
        require(self.text.startswith(sign, self.at))
        self.at += len(sign)

    def skip_blanks(self) -> None:
        while self.peek() and self.peek() in _BLANK:
            self.at += 1

    def value(self, depth: int) -> Any:
        self.skip_blanks()
        match self.peek():
            case "{":
                return self.object(depth + 1)
            case "[":
                return self.array(depth + 1)
            case '"':
                return self.string()
        for word, meaning in (("true", True), ("false", False), ("null", None)):
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return meaning
        return self.number()

    def object(self, depth: int) -> dict[str, Any]:
        require(depth <= DEEPEST)
        found: dict[str, Any] = {}
        self.take("{")
        self.skip_blanks()
        while self.peek() != "}":
            if found:
                self.take(",")
                self.skip_blanks()
            key = self.string()
            require(key not in found)
            self.skip_blanks()
            self.take(":")
            found[key] = self.value(depth)
            self.skip_blanks()
        self.take("}")
        return found

    def array(self, depth: int) -> list[Any]:
        require(depth <= DEEPEST)
        found: list[Any] = []
        self.take("[")
        self.skip_blanks()
        while self.peek() != "]":
            if found:
                self.take(",")
            found.append(self.value(depth))
            self.skip_blanks()
        self.take("]")
        return found

    def string(self) -> str:
        self.take('"')
        units: list[str] = []
        while (sign := self.peek()) != '"':
            require(sign and sign >= " ")
            self.at += 1
            if sign != "\\":
                units.append(sign)
            elif self.peek() == "u":
                self.at += 1
                units.append(self.escaped())
            else:
                require(self.peek() in _ESCAPES and self.peek())
                units.append(_ESCAPES[self.peek()])
                self.at += 1
        self.take('"')
        return "".join(units)

    def escaped(self) -> str:
        """A sign by its number, or by two that belong together; half of a pair stays a half."""
        first = self.unit()
        if 0xD800 <= first < 0xDC00 and self.text.startswith("\\u", self.at):
            back = self.at
            self.at += 2
            second = self.unit()
            if 0xDC00 <= second < 0xE000:
                return chr(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
            self.at = back
        return chr(first)

    def unit(self) -> int:
        digits = self.text[self.at : self.at + 4]
        require(len(digits) == 4 and all(digit in _HEX for digit in digits))
        self.at += 4
        return int(digits, 16)

    def number(self) -> float:
        begin = self.at
        whole = True
        if self.peek() == "-":
            self.at += 1
        if self.peek() == "0":
            self.at += 1
        else:
            self.digits()
        if self.peek() == ".":
            whole = False
            self.at += 1
            self.digits()
        if self.peek() in {"e", "E"}:
            whole = False
            self.at += 1
            if self.peek() in {"+", "-"}:
                self.at += 1
            self.digits()
        written = self.text[begin : self.at]
        require(len(written) <= LONGEST_NUMBER)
        value = int(written) if whole else float(written)
        require(abs(value) != float("inf"))
        return value

    def digits(self) -> None:
        begin = self.at
        while self.peek() and self.peek() in _DIGITS:
            self.at += 1
        require(self.at > begin)


# --- The envelope


def _content(envelope: Any, expected: Expected) -> str:
    """The text of the one choice of a completion that ended well, by the model that was asked."""
    require(type(envelope) is dict)
    require(type(envelope.get("model")) is str and envelope["model"] in expected.names)
    choices = envelope.get("choices")
    require(type(choices) is list and len(choices) == 1 and type(choices[0]) is dict)
    choice = choices[0]
    require(type(choice.get("index", 0)) is int and choice.get("index", 0) == 0)
    # How servers call an answer that came to its own end.
    require(choice.get("finish_reason") in ("stop", "eos", "end_turn"))
    message = choice.get("message")
    require(type(message) is dict)
    require(message.get("refusal") in (None, "") and type(message.get("refusal")) is not bool)
    _check_usage(envelope.get("usage"), expected)
    content = message.get("content")
    if type(content) is list:
        require(all(type(part) is dict for part in content))
        texts = [part.get("text") for part in content if part.get("type") == "text"]
        return "".join(text for text in texts if type(text) is str)
    require(type(content) is str)
    return str(content)


def _check_usage(usage: Any, expected: Expected) -> None:
    if usage is None:
        return
    require(type(usage) is dict)
    for name in ("prompt_tokens", "completion_tokens"):
        count = usage.get(name)
        require(count is None or (type(count) is int and 0 <= count <= LARGEST_COUNT))
    read = usage.get("prompt_tokens")
    details = usage.get("prompt_tokens_details")
    if read is not None and type(details) is dict and type(details.get("cached_tokens")) is int:
        read += max(details["cached_tokens"], 0)
    require(read is None or read >= expected.least_tokens)


# --- The text


def _undressed(content: str, *, thinks: bool) -> str:
    text = content.strip()
    text = text[1:].strip() if text[:1] == "\ufeff" else text
    require(len(text) <= LONGEST_CONTENT)
    close = "</think>"
    if text[:7] == "<think>" or (thinks and close in text):
        end = text.rfind(close)
        require(end >= 0)
        text = text[end + len(close) :].strip()
    if text[:3] == "```" and text[-4:] == "\n```":
        first, newline, rest = text[3:-3].partition("\n")
        label = first[:-1] if first[-1:] == "\r" else first
        if newline and label.rstrip(" \t") in {"", "json", "JSON"}:
            return rest.strip()
    return text


def _verdict(value: Any, expected: Expected) -> dict[str, Any]:
    require(type(value) is dict)
    wanted = {"summary", "category", "confidence", "quotes"}
    require(set(value) == (wanted if expected.ref is None else wanted | {"ref"}))
    require(value.get("ref") == expected.ref)
    summary, quotes, confidence = value["summary"], value["quotes"], value["confidence"]
    require(type(summary) is str and 1 <= len(summary) <= 1_000)
    require(type(quotes) is list and len(quotes) <= 8)
    require(all(type(quote) is str and len(quote) <= 500 for quote in quotes))
    require(all(_is_storable(text) for text in (summary, *quotes)))
    require(type(confidence) in {int, float} and 0 <= confidence <= 1)
    shown = "".join(c for c in summary if c in _KEPT_SIGNS or unicodedata.category(c) != "Cf")
    require(shown.strip())
    return {
        "summary": shown,
        "category": _category(value["category"], expected),
        "confidence": confidence,
        "quotes": [kept for quote in quotes if (kept := _as_it_stands(quote, expected))],
    }


def _category(said: Any, expected: Expected) -> str:
    require(type(said) is str)
    ids = [each["id"] for each in expected.policy.categories]
    found = [each for each in ids if each.casefold() == said.strip().casefold()]
    require(len(found) == 1)
    return found[0]


def _is_storable(text: str) -> bool:
    return not any(
        (c < " " and c not in "\t\n\r") or c == "\x7f" or "\ud800" <= c <= "\udfff" for c in text
    )


def _as_it_stands(quote: str, expected: Expected) -> str:
    """The quote as it stands in a reported text, or blank; "[U+202E]" may stand for the sign."""
    for written in (quote, _signs_put_back(quote)):
        if written.strip() and any(written in text for text in expected.texts):
            return written
    return ""


def _signs_put_back(quote: str) -> str:
    pieces = quote.split("[U+")
    text = pieces[0]
    for piece in pieces[1:]:
        number, bracket, rest = piece.partition("]")
        right_length = len(number) in {4, 5} or (len(number) == 6 and number[:2] == "10")
        if bracket and right_length and all(digit in "0123456789ABCDEF" for digit in number):
            text += chr(int(number, 16)) + rest
        else:
            text += "[U+" + piece
    return text
