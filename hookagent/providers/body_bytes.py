"""A request's body as the JSON that goes over the wire: each message is written once, then only joined.

Writing a long conversation anew for every request is most of what a request costs on the client's side; the SDKs do
it, and before it they copy or check every message. Their `post` takes bytes, with the same time-outs, error classes
and typed events.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hookagent.providers.wire.message import WireMessage

# The settings of the SDKs' own writers, so that the bytes are those that they would send.
_write = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def body_bytes(body: Mapping[str, Any], messages: str) -> bytes:
    """The bytes of `body`, in which the field `messages` is the list of messages or items.

    Raises `TypeError` or `ValueError` for what JSON cannot carry.
    """
    pieces = [_written(message) for message in body[messages]]
    rest = _write({name: value for name, value in body.items() if name != messages}).encode()
    end = b"]," + rest[1:] if len(rest) > 2 else b"]}"
    return b"".join((b'{"', messages.encode(), b'":[', b",".join(pieces), end))


def _written(message: Any) -> bytes:
    if type(message) is not WireMessage:
        return _write(message).encode()
    written = message.written
    if written is None:
        # Nobody changes a message after it was made, so its bytes stay true.
        written = message.written = _write(message).encode()
    return written
