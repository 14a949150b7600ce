"""A form with a file in it, as it comes over the wire: the file goes to disk piece by piece."""

import email.parser
import email.policy
from collections.abc import Iterator
from io import BufferedIOBase
from typing import BinaryIO, NamedTuple

_PIECE = 2**16
_MOST_HEADER_BYTES = 2**14
_MOST_FIELD_BYTES = 2**16
_END = b"\r\n"


class FormError(ValueError):
    """No form; the text is a sentence for whoever sent it."""


class Form(NamedTuple):
    """`filename` is None where no file came."""

    fields: dict[str, str]
    filename: str | None


def read_form(source: BufferedIOBase, *, length: int, content_type: str, to: BinaryIO) -> Form:
    """Read so many bytes; the content of the file is in `to`. Raises FormError."""
    told = email.parser.HeaderParser(policy=email.policy.HTTP).parsestr(
        f"Content-Type: {content_type}\n"
    )
    boundary = told.get_boundary()
    if told.get_content_type() != "multipart/form-data" or not boundary:
        raise FormError("A file comes as multipart/form-data.")
    # The first boundary has no line before it, and is found like the others all the same.
    parts = _Parts(source, length, b"\r\n--" + boundary.encode("latin-1", "replace"))
    for _preamble in parts.pieces():
        pass
    fields: dict[str, str] = {}
    filename = None
    while headers := parts.next_headers():
        part = email.parser.BytesHeaderParser(policy=email.policy.HTTP).parsebytes(headers)
        disposition = part["Content-Disposition"]
        name = disposition.params.get("name", "") if disposition is not None else ""
        if (found := part.get_filename()) is not None and name == "file":
            filename = found
            to.writelines(parts.pieces())
        else:
            fields[name] = _short(parts.pieces())
    return Form(fields, filename)


def _short(pieces: Iterator[bytes]) -> str:
    value = b""
    for piece in pieces:
        value += piece
        if len(value) > _MOST_FIELD_BYTES:
            raise FormError("A field of the form is too long.")
    return value.decode("utf-8", "replace")


class _Parts:
    """What stands between two boundaries, one after the other."""

    def __init__(self, source: BufferedIOBase, length: int, delimiter: bytes) -> None:
        self._source = source
        self._left = length
        self._delimiter = delimiter
        self._held = _END

    def pieces(self) -> Iterator[bytes]:
        """All up to the next boundary, which is taken as well."""
        keep = len(self._delimiter) - 1
        while (at := self._held.find(self._delimiter)) < 0:
            if len(self._held) > keep:
                yield self._held[:-keep]
                self._held = self._held[-keep:]
            self._read()
        yield self._held[:at]
        self._held = self._held[at + len(self._delimiter) :]

    def next_headers(self) -> bytes:
        """The headers of the next part; empty behind the last one."""
        while (at := self._held.find(_END * 2)) < 0 and not self._held.startswith(b"--"):
            if len(self._held) > _MOST_HEADER_BYTES:
                raise FormError("A part of the form has too many headers.")
            self._read()
        if self._held.startswith(b"--"):
            while self._left:
                self._read()
                self._held = b"--"
            return b""
        headers, self._held = self._held[len(_END) : at] + _END, self._held[at + 2 * len(_END) :]
        return headers

    def _read(self) -> None:
        piece = self._source.read(min(_PIECE, self._left))
        if not piece:
            raise FormError("The form ends too early.")
        self._left -= len(piece)
        self._held += piece
