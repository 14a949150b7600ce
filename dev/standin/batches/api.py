"""From a call of the Files and Batch API to its answer.

| request | operation |
|---|---|
| POST /v1/files | upload |
| GET /v1/files?purpose=&limit=&after= | list_files |
| GET, DELETE /v1/files/{id} | retrieve_file, delete |
| GET /v1/files/{id}/content | download |
| POST /v1/batches | create |
| GET /v1/batches?limit=&after= | list_batches |
| GET /v1/batches/{id} | retrieve |
| POST /v1/batches/{id}/cancel | cancel |
"""

import threading
import time
from collections import Counter
from collections.abc import Callable
from io import BufferedIOBase
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote

from dev.standin.answering import Answering
from dev.standin.answers import Answer, error_answer, json_answer
from dev.standin.batches.apart import Answerer
from dev.standin.batches.batch import ENDPOINT, WINDOW, Batch
from dev.standin.batches.faults import Faults, faulty, seconds_of
from dev.standin.batches.files import Files, StoredFile
from dev.standin.batches.form import read_form
from dev.standin.batches.manners import BatchManners
from dev.standin.batches.working import Work, too_big

_PREFIX = "/v1/"
_MOST_PAIRS, _MOST_KEY, _MOST_VALUE = 16, 64, 512
_LISTS = {"files": 10_000, "batches": 100}
"""How many entries may be asked for."""
_USUAL_PAGE = "20"

_Do = Callable[[], Answer]


class BatchApi:
    """What stands, and what comes of each call."""

    def __init__(self, model: Answering) -> None:
        self._model = model
        self._lock = threading.Lock()
        self._batches: dict[str, Batch] = {}
        self._threads: list[threading.Thread] = []
        self._counts: Counter[str] = Counter()
        self.files = Files()
        self.faults = Faults()

    def upload(self, source: BufferedIOBase, *, length: int, content_type: str) -> Answer:
        """Keep the file of a form; raises FormError. Refused only once all of it is read."""
        with self.files.writing() as to:
            form = read_form(source, length=length, content_type=content_type, to=to)
        path, purpose = Path(to.name), form.fields.get("purpose")

        def keep() -> Answer:
            if form.filename is None or purpose != "batch":
                return error_answer(400, "A file and the purpose 'batch' are required.")
            file = self.files.keep(
                path, name=form.filename, purpose=purpose, odd_id=self._manners.ids == "odd"
            )
            return json_answer(200, file.shown())

        answer = self._do("upload", keep)
        if not any(file.path == path for file in self.files.newest_first(lambda _: True)):
            path.unlink(missing_ok=True)
        return answer

    def answer(self, method: str, path: str, body: Any = None) -> Answer | None:
        """The answer to any call but an upload; None: the path is not one of this API."""
        bare, _, query = path.partition("?")
        if not bare.startswith(_PREFIX):
            return None
        asked = {name: values[-1] for name, values in parse_qs(query).items()}
        do: _Do
        match method, *(unquote(one) for one in bare.removeprefix(_PREFIX).split("/")):
            case "GET", "files":
                operation, do = "list_files", lambda: self._list_files(asked)
            case "GET", "files", file_id:
                operation, do = "retrieve_file", self._of_file(file_id, _shown)
            case "DELETE", "files", file_id:
                operation, do = "delete", self._of_file(file_id, self._delete)
            case "GET", "files", file_id, "content":
                operation, do = "download", self._of_file(file_id, _content)
            case "POST", "batches":
                operation, do = "create", lambda: self._create(body)
            case "GET", "batches":
                operation, do = "list_batches", lambda: self._list_batches(asked)
            case "GET", "batches", batch_id:
                operation, do = "retrieve", self._of_batch(batch_id, _shown)
            case "POST", "batches", batch_id, "cancel":
                operation, do = "cancel", self._of_batch(batch_id, _cancel)
            case _:
                return None
        return self._do(operation, do)

    def standing(self, *, settled_within: float) -> dict[str, Any]:
        """`files` and `batches` as they are shown, oldest first; `counts` of what took effect.

        Waits so many seconds for batches that are not at their end.
        """
        until = time.monotonic() + settled_within
        for thread in self._running():
            thread.join(max(0, until - time.monotonic()))
        with self._lock:
            batches, counts = list(self._batches.values()), dict(self._counts)
        files = reversed(self.files.newest_first(lambda _: True))
        return {
            "files": [file.shown() for file in files],
            "batches": [batch.shown() for batch in batches],
            "counts": counts,
        }

    def clear(self) -> None:
        """Forget all of it; a batch that is at work is left."""
        with self._lock:
            batches, self._batches = self._batches, {}
            self._counts.clear()
        for batch in batches.values():
            batch.interrupted.set()
        for thread in self._running():
            thread.join()
        self.files.clear()
        self.faults.clear()

    @property
    def _manners(self) -> BatchManners:
        return self._model.manners.batches

    def _running(self) -> list[threading.Thread]:
        with self._lock:
            self._threads = [thread for thread in self._threads if thread.is_alive()]
            return list(self._threads)

    def _do(self, operation: str, do: _Do) -> Answer:
        """The operation, unless it is not offered or a fault is in its way."""
        if not self._manners.offered:
            return error_answer(404, "The stand-in was told to offer no batches.")
        fault = self.faults.next_for(operation)
        answer = json_answer(200, {})
        if fault is None or fault["effect"]:
            answer = do()
            if answer.status < 400:
                with self._lock:
                    self._counts[operation] += 1
        if fault is None:
            return answer
        self._model.stopping.wait(seconds_of(fault["step"]))
        return faulty(answer, fault["step"])

    def _of_file(self, file_id: str, do: Callable[[StoredFile], Answer]) -> _Do:
        file = self.files.get(file_id)
        return lambda: do(file) if file else _missing("File", file_id)

    def _of_batch(self, batch_id: str, do: Callable[[Batch], Answer]) -> _Do:
        batch = self._batches.get(batch_id)
        return lambda: do(batch) if batch else _missing("Batch", batch_id)

    def _delete(self, file: StoredFile) -> Answer:
        self.files.delete(file.id)
        return json_answer(200, {"id": file.id, "object": "file", "deleted": True})

    def _create(self, body: Any) -> Answer:
        if problem := _problem(body):
            return error_answer(400, problem)
        file = self.files.get(body["input_file_id"])
        if file is None or file.purpose != "batch":
            return error_answer(400, "No such input file.", param="input_file_id")
        manners = self._manners
        if manners.refuses == "create":
            with file.path.open("rb") as source:
                total = sum(1 for _ in source)
            if found := too_big(file, total, manners):
                code, message = found
                return error_answer(400, message, code=code)
        batch = Batch(file=file, metadata=body.get("metadata"), manners=manners)
        answerer = Answerer(self._model, size=file.size)
        work = Work(batch, files=self.files, answerer=answerer, lines_out=self._lines_out)
        thread = threading.Thread(target=work.run, name=batch.id, daemon=True)
        shown = batch.shown()
        with self._lock:
            self._batches[batch.id] = batch
            self._threads.append(thread)
            thread.start()
        return json_answer(200, shown)

    def _lines_out(self) -> int:
        with self._lock:
            return sum(batch.lines_out for batch in self._batches.values())

    def _list_files(self, asked: dict[str, str]) -> Answer:
        purpose = asked.get("purpose")
        files = self.files.newest_first(lambda file: purpose in {None, file.purpose})
        return self._page("files", [file.shown() for file in files], asked)

    def _list_batches(self, asked: dict[str, str]) -> Answer:
        with self._lock:
            batches = list(reversed(self._batches.values()))
        return self._page("batches", [batch.shown() for batch in batches], asked)

    def _page(self, kind: str, entries: list[dict[str, Any]], asked: dict[str, str]) -> Answer:
        """A part of a list: so many behind the entry named `after`."""
        limit, most = asked.get("limit", _USUAL_PAGE), _LISTS[kind]
        if not limit.isdecimal() or not 1 <= int(limit) <= most:
            return error_answer(400, f"limit is a whole number from 1 to {most}.", param="limit")
        start = 0
        if (after := asked.get("after")) is not None:
            places = [place for place, entry in enumerate(entries, 1) if entry["id"] == after]
            if not places:
                return _missing("Entry", after)
            (start,) = places
        page = entries[start : start + min(int(limit), self._manners.page)]
        ids = [entry["id"] for entry in page]
        return json_answer(
            200,
            {
                "object": "list",
                "data": page,
                "first_id": ids[0] if ids else None,
                "last_id": ids[-1] if ids else None,
                "has_more": start + len(page) < len(entries),
            },
        )


def _shown(one: StoredFile | Batch) -> Answer:
    return json_answer(200, one.shown())


def _content(file: StoredFile) -> Answer:
    return Answer(200, b"", {"Content-Type": "application/octet-stream"}, file=file.path)


def _cancel(batch: Batch) -> Answer:
    if batch.cancel():
        return json_answer(200, batch.shown())
    return error_answer(409, f"Cannot cancel a batch with status '{batch.shown()['status']}'.")


def _missing(what: str, wanted: str) -> Answer:
    return error_answer(404, f"{what} '{wanted}' not found.", param="id")


def _problem(body: Any) -> str | None:
    """Why this creates no batch, as a sentence."""
    if not isinstance(body, dict) or not isinstance(body.get("input_file_id"), str):
        return "input_file_id is required."
    if body.get("endpoint") != ENDPOINT or body.get("completion_window") != WINDOW:
        return f"endpoint is {ENDPOINT}, completion_window is {WINDOW}."
    metadata = body.get("metadata")
    if metadata is None:
        return None
    fits = isinstance(metadata, dict) and len(metadata) <= _MOST_PAIRS
    if not fits or not all(
        isinstance(value, str) and len(name) <= _MOST_KEY and len(value) <= _MOST_VALUE
        for name, value in metadata.items()
    ):
        return (
            f"metadata is up to {_MOST_PAIRS} pairs of texts, {_MOST_KEY} and {_MOST_VALUE} long."
        )
    return None
