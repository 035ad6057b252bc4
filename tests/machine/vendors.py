"""The three wire forms without a network: the real builders and readers, and the kit on the vendor's side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from hookagent import AssistantMessage, Request
from hookagent.providers.anthropic_messages.decode import MessageReader
from hookagent.providers.anthropic_messages.encode import encode as encode_messages
from hookagent.providers.call_ids import FreshIds
from hookagent.providers.openai_chat.decode import ChatReader
from hookagent.providers.openai_chat.encode import encode as encode_chat
from hookagent.providers.openai_responses.decode import ResponseReader
from hookagent.providers.openai_responses.encode import encode as encode_responses
from hookagent.providers.wire import anthropic_messages, openai_chat, openai_responses
from hookagent.testing.server.render_chat import render_chat
from hookagent.testing.server.render_messages import render_messages
from hookagent.testing.server.render_responses import render_responses
from hookagent.testing.server.replies import Reply
from hookagent.testing.server.signing import TranscriptSigner
from hookagent.testing.wire import CHAT, MESSAGES, RESPONSES, Wire, check_request

SIGNER = TranscriptSigner()


class Vendor(NamedTuple):
    """One wire form: the model's name, the builder, the product's own last check, the kit's renderer, the reader."""

    wire: Wire
    model: str
    encode: Callable[[Request, str], dict[str, Any]]
    last_check: Callable[[Any, Request], None]
    render: Callable[..., Any]
    reader: Callable[..., Any]

    def body(self, request: Request) -> dict[str, Any]:
        """The body of a request, passed through both checkers. Raises what they raise."""
        body = self.encode(request, self.model)
        self.last_check(body, request)
        body["stream"] = True
        check_request(self.wire, body, signer=SIGNER)
        return body

    def events(self, reply: Reply, body: dict[str, Any], *, cut: bool) -> list[Any]:
        """A reply as the events of its stream; `cut` leaves out the closing ones."""
        rendered = self.render(reply, body, SIGNER)
        events = rendered.events[: -rendered.closing] if cut else rendered.events
        return [Seen(event.data) for event in events if isinstance(event.data, dict)]

    def read(self, events: list[Any], request: Request) -> Iterator[Any]:
        """What the reader makes of events: deltas, and last the message. Raises what it raises."""
        reader = self.reader(FreshIds(request.blocks.transcript), self.model)
        for event in events:
            found = reader.read(event)
            yield from found if isinstance(found, list) else () if found is None else (found,)
        message = reader.message()
        assert isinstance(message, AssistantMessage)
        yield message


def _encode_chat(request: Request, model: str) -> dict[str, Any]:
    return encode_chat(request, model, limit_name="max_completion_tokens", is_foreign=False)


VENDORS: dict[str, Vendor] = {
    "anthropic": Vendor(
        MESSAGES,
        "claude-sonnet-5",
        encode_messages,
        anthropic_messages.check_body,
        render_messages,
        MessageReader,
    ),
    "openai": Vendor(
        RESPONSES, "gpt-5", encode_responses, openai_responses.check_body, render_responses, ResponseReader
    ),
    "openai-chat": Vendor(CHAT, "gpt-4o", _encode_chat, openai_chat.check_body, render_chat, ChatReader),
}


class Seen:
    """An object as the SDKs give it: what came over the wire, as attributes."""

    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data

    def __getattr__(self, name: str) -> Any:
        try:
            return _seen(self._data[name])
        except KeyError:
            raise AttributeError(name) from None

    def to_dict(self, **_: Any) -> dict[str, Any]:
        """The plain JSON object."""
        return dict(self._data)


def _seen(value: Any) -> Any:
    if isinstance(value, dict):
        return Seen(value)
    return [_seen(item) for item in value] if isinstance(value, list) else value
