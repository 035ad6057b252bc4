"""Signs what the strict server sends and recognizes it when it comes back.

The key is fixed unless another is given, so that a transcript goes on at another server of the same key.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import uuid

_DEFAULT_KEY = b"hookagent strict server"


class TranscriptSigner:
    """An HMAC signer for thinking, redacted thinking and reasoning items; satisfies the checkers' `Signer`."""

    def __init__(self, key: bytes = _DEFAULT_KEY) -> None:
        self._key = key

    def sign_thinking(self, text: str) -> str:
        """Make the signature of a thinking block."""
        return self._seal("thinking", text)

    def thinking_is_genuine(self, text: str, signature: str) -> bool:
        """Say whether `signature` was made for exactly this thinking text."""
        return self._matches(signature, "thinking", text)

    def make_redacted(self, text: str) -> str:
        """Make the data of a redacted thinking block; it does not show the text."""
        seed = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        return f"{seed}.{self._seal('redacted', seed)}"

    def redacted_is_genuine(self, data: str) -> bool:
        """Say whether the data of a redacted thinking block was made with this key."""
        seed, _, seal = data.partition(".")
        return self._matches(seal, "redacted", seed)

    def encrypt_reasoning(self, item_id: str) -> str:
        """Make the encrypted_content of a reasoning item; it belongs to the item's id."""
        return self._seal("reasoning", item_id)

    def reasoning_is_genuine(self, item_id: str, encrypted_content: str) -> bool:
        """Say whether `encrypted_content` was made for the reasoning item of this id."""
        return self._matches(encrypted_content, "reasoning", item_id)

    def make_item_id(self, prefix: str, reasoning_id: str | None = None) -> str:
        """Make a fresh id of an output item, which remembers the reasoning item ahead of it."""
        fresh = f"{prefix}_{uuid.uuid4().hex}"
        return fresh if reasoning_id is None else f"{fresh}_with_{reasoning_id}"

    def required_reasoning(self, item_id: str) -> str | None:
        """Give the id of the reasoning item that an output item came with, or None."""
        _, mark, reasoning_id = item_id.partition("_with_")
        return reasoning_id if mark else None

    def _seal(self, purpose: str, text: str) -> str:
        message = f"{purpose}\0{text}".encode("utf-8", "surrogatepass")
        return base64.b64encode(hmac.new(self._key, message, hashlib.sha256).digest()).decode("ascii")

    def _matches(self, seal: str, purpose: str, text: str) -> bool:
        expected = self._seal(purpose, text).encode("ascii")
        return hmac.compare_digest(seal.encode("utf-8", "surrogatepass"), expected)
