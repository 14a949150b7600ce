"""What tests tell the stand-in to answer instead. Safe among threads.

A script is `{"match": str or null, "times": int or null, "answers": [step, ...]}`. A request whose
evidence contains `match` (null: every request) takes the next step of the first script that has
one left. The list of answers is gone through `times` times (default 1; null: without end);
afterwards the stand-in answers by its manners again (see `manners`; without any: normally).

| kind | fields | what the client gets |
|---|---|---|
| verdict | any field of the verdict | the normal verdict with these fields instead |
| content | content: anything | this as the assistant's content |
| body | body or body_base64, status=200, headers={} | this as the whole HTTP body |
| error | status, code, message, type, param, headers={} | an OpenAI-style error |
| error | status, body: object, headers={} | this object as the whole body |
| redirect | location, status=307, headers={} | no body, and this Location |
| delay | seconds | the normal answer, later |
| hang | seconds | nothing; the connection closes after that time |
| drip | seconds, interval, status=200 | blank lines for that time, then the normal answer |
| drip_headers | seconds, interval | a header byte every interval, then the normal answer |
| cut | | half of the normal body, then the connection closes |
| drop_after_answer | | the normal answer, then the connection closes without notice |
| close | | the connection closes without a byte |
| reset | | the connection is reset (RST) without a byte |
| raw | base64, answer=false | these bytes in place of an HTTP answer, then the connection closes |
| gzip | megabytes | the normal answer after so many MB of white space, compressed, whatever was accepted |
| flood | megabytes | so many MB of white space, uncompressed and chunked, until the client goes |
| swap | seconds | the normal answer of another call that takes a swap within that time; alone: its own |
| finish | finish_reason, content (default: normal) | that finish reason |
| refusal | refusal | content null and this refusal |
| wrong_ref | | the normal verdict with another ref |
| wrong_model | model | the normal answer in the name of another model |
| usage | prompt_tokens, completion_tokens | the normal answer with these counts |
| dress | before="", after="", parts=false | the verdict's text between these; parts: in chunks |
| edit | drop=[keys], add={}, replace=[[old, new], ...] | the verdict's text, changed |
| message | fields | the normal answer, these fields of its message set |
| choice | fields | the normal answer, these fields of its choice set |
| envelope | fields={}, without=[names] | the normal answer, these fields set, those absent |

An edit drops keys of the verdict, sets some, and then replaces parts of its JSON text; where there
are replacements and none is found it is a 400 with the code `nothing_to_edit`, for the test would
pass on the normal verdict. Chunks are a list as content: a thought, then the text in two.
A raw step with `answer` sends the normal answer's body behind its bytes, which are then its headers.
In the `fields` of message, choice and envelope "$verdict" stands for the verdict's JSON text and
"$ref" for its ref, also as a part of a longer text.
Every kind may carry `after_seconds`: the same, that much later.
"""

import threading
from typing import Any

from dev.standin.steps import ScriptError, check_step

__all__ = ["Script", "ScriptError"]


class Script:
    """The steps that are still to be answered."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: list[dict[str, Any]] = []

    def add(self, script: Any) -> None:
        """Append one script; raises ScriptError and appends nothing when it is malformed."""
        entry = _checked(script)
        with self._lock:
            self._entries.append(entry)

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()

    def __bool__(self) -> bool:
        """Whether anything is left."""
        return bool(self._entries)

    def next_step(self, searchable: str) -> dict[str, Any] | None:
        """The step for a request whose evidence reads like this; None for a normal answer."""
        with self._lock:
            for entry in self._entries:
                if entry["match"] is not None and entry["match"] not in searchable:
                    continue
                step: dict[str, Any] = entry["answers"][entry["position"]]
                self._advance(entry)
                return step
        return None

    def _advance(self, entry: dict[str, Any]) -> None:
        entry["position"] += 1
        if entry["position"] < len(entry["answers"]):
            return
        entry["position"] = 0
        if entry["times"] is not None:
            entry["times"] -= 1
            if entry["times"] == 0:
                # By identity: another script may read the same.
                self._entries = [other for other in self._entries if other is not entry]


def _checked(script: Any) -> dict[str, Any]:
    if not isinstance(script, dict):
        raise ScriptError("A script is a JSON object.")
    if unknown := script.keys() - {"match", "times", "answers"}:
        raise ScriptError(f"A script has no field {min(unknown)!r}.")
    match, times, answers = script.get("match"), script.get("times", 1), script.get("answers")
    if match is not None and not isinstance(match, str):
        raise ScriptError("match is a text or null.")
    if times is not None and (isinstance(times, bool) or not isinstance(times, int) or times < 1):
        raise ScriptError("times is a positive whole number or null.")
    if not isinstance(answers, list) or not answers:
        raise ScriptError("answers is a list of at least one step.")
    for step in answers:
        check_step(step)
    return {"match": match, "times": times, "answers": answers, "position": 0}
