"""The bytes of a file as text: which encoding, and what is said when it is not text."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_LOOKED_AT = 8_192


@dataclass(frozen=True, slots=True)
class Encoding:
    """`name` is Python's; `mark` the byte order mark that the file begins with, often empty."""

    name: str
    mark: bytes

    def encode(self, text: str) -> bytes:
        """Turn `text` into the file's bytes again, mark included."""
        return self.mark + text.encode(self.name)


def find_encoding(head: bytes) -> Encoding | None:
    """Tell the encoding from a file's first bytes; None: it is not text."""
    for mark, name in _MARKS:
        if head.startswith(mark):
            return Encoding(name, mark)
    return None if b"\x00" in head[:_LOOKED_AT] else Encoding("utf-8", b"")


def incremental_decoder(encoding: Encoding) -> codecs.IncrementalDecoder:
    """Return a decoder that replaces what cannot be decoded; feed it the bytes behind the mark."""
    return codecs.getincrementaldecoder(encoding.name)("replace")
