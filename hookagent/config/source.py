"""Bytes of a configuration file to text: what can go wrong before anything is parsed."""

from __future__ import annotations

import re
from pathlib import Path

from hookagent.config.problems import Place, fail

MOST_BYTES = 1_000_000
MOST_NODES = 20_000
DEEPEST = 50
LINE_END = re.compile("\r\n|[\r\n\x85\u2028\u2029]")
"""What ends a line, as YAML readers count lines."""

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def read_source(path: Path, file: str) -> str:
    """Return the text of the file at `path`, called `file` in errors.

    UTF-8 with or without a byte-order mark, whatever the locale says. Raises `ConfigError` when there is no such
    file, when it cannot be read, is larger than 1,000,000 bytes, or holds anything but text.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise fail(Place(file), "there is no such file; check the path") from None
    except IsADirectoryError:
        raise fail(Place(file), "this is a folder; a file was expected") from None
    except PermissionError:
        raise fail(Place(file), "cannot be read: permission denied; make it readable for the current user") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "the path is not valid"
        raise fail(Place(file), f"cannot be read: {reason.lower()}") from None
    if len(data) > MOST_BYTES:
        raise fail(Place(file), f"the file is larger than {MOST_BYTES:,} bytes; that is no configuration file")
    return decode_source(data, file)


def decode_source(data: bytes, file: str) -> str:
    """Return UTF-8 bytes as text, without a byte-order mark. Raises `ConfigError` with the place of the first fault."""
    body = data.removeprefix(_UTF8_MARK)
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        place = _end_of(body[: error.start].decode("utf-8"), file)
        raise fail(place, f"{_wrong_encoding(data)}; save the file as UTF-8") from None
    if control := _CONTROL.search(text):
        name = "a NUL character" if control[0] == "\0" else f"the control character U+{ord(control[0]):04X}"
        raise fail(_end_of(text[: control.start()], file), f"{_wrong_text(data, name)}; remove it")
    return text


def _end_of(before: str, file: str) -> Place:
    lines = LINE_END.split(before)
    return Place(file, len(lines), len(lines[-1]) + 1)


def _wrong_encoding(data: bytes) -> str:
    if data.startswith(_UTF16_MARKS):
        return "the file is not UTF-8 text (it begins like UTF-16)"
    return "the file is not UTF-8 text"


def _wrong_text(data: bytes, name: str) -> str:
    if name == "a NUL character" and data.count(b"\0") * 3 > len(data):
        return "the file is not UTF-8 text (it looks like UTF-16): it holds a NUL character"
    return f"the file holds {name}"
