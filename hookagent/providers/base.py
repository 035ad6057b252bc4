"""The contract of a provider: it turns a Request into a streamed AssistantMessage."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import NamedTuple, Protocol, runtime_checkable

from hookagent.messages import AssistantMessage
from hookagent.requests import Request


class Delta(NamedTuple):
    """A piece of a reply: `kind` is "text", "thinking" or "arguments" (of a call, as JSON text)."""

    kind: str
    text: str


class Retrying(NamedTuple):
    """An attempt failed and another follows after `wait_seconds`; what was streamed of it is void."""

    attempt: int
    wait_seconds: float
    error: str


@runtime_checkable
class Provider(Protocol):
    """A model, ready to be asked.

    It may also have `assert_ready()`, which raises `ProviderError` where it knows without sending anything that it
    cannot be asked, for want of a key; the command and `complete` look at that before they begin.
    """

    @property
    def name(self) -> str:
        """The prefix of the model's name, such as "anthropic"."""
        ...

    @property
    def model(self) -> str:
        """The rest of the model's name; may be empty."""
        ...

    @property
    def wire(self) -> str | None:
        """The wire form whose checker passes on each request, or None where nothing is sent."""
        ...

    @property
    def context_window(self) -> int | None:
        """The window in tokens, or None where it is unknown."""
        ...

    @property
    def notice(self) -> str:
        """One sentence about what the model can do, for the first line of a run, or ""."""
        ...

    def stream(self, request: Request) -> AsyncIterator[Delta | AssistantMessage]:
        """Send the request; yield deltas as they come and, last, the whole message.

        Raises `ProviderError`, typed by kind; a stream that ends without its closing event is one
        (`incomplete`). One attempt only: retries lie above (`ask_with_retries`).
        """
        ...
