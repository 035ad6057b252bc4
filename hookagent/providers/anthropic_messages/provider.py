"""The provider `anthropic`: Claude through the Messages API and Anthropic's own SDK."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any

from hookagent.errors import ProviderError
from hookagent.messages import AssistantMessage
from hookagent.providers import prices
from hookagent.providers.anthropic_messages import WIRE
from hookagent.providers.anthropic_messages.decode import MessageReader
from hookagent.providers.anthropic_messages.encode import encode
from hookagent.providers.base import Delta
from hookagent.providers.body_bytes import body_bytes
from hookagent.providers.call_ids import FreshIds
from hookagent.providers.clients import CONNECT_SECONDS, READ_SECONDS, Key, ask_key, connection_pool, loop_client
from hookagent.providers.decoding import priced
from hookagent.providers.documented_call import documented_stream
from hookagent.providers.failures import masked, provider_error
from hookagent.providers.keys import blank_key, check_key, missing_key
from hookagent.providers.unstreamed import unreadable, unstreamed_body
from hookagent.providers.wire.anthropic_messages import check_body
from hookagent.providers.wire.request_rules import check_request
from hookagent.requests import Request

if TYPE_CHECKING:
    import httpx2
    from anthropic import Anthropic, AsyncAnthropic

_AUTH_HEADERS = {"authorization", "x-api-key"}
_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
_ENVIRONMENT = (
    *_KEYS,
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_CUSTOM_HEADERS",
    "ANTHROPIC_PROFILE",
)


class AnthropicProvider:
    """Claude. `model` is a model's name without prefix; see `Provider` for the rest.

    `api_key` is a key or a function that is asked before each request; without one, and without `base_url`, the
    SDK's own ways hold (ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN, its profiles, ANTHROPIC_BASE_URL). `http_client`
    is an `httpx2.AsyncClient` of the caller's, who also closes it. `documented_call` sends by the SDK's documented
    call, which is slower.
    """

    name = "anthropic"
    wire: str | None = WIRE
    notice = ""

    def __init__(
        self,
        model: str,
        api_key: Key | None = None,
        base_url: str | None = None,
        http_client: httpx2.AsyncClient | None = None,
        documented_call: bool = False,
    ) -> None:
        self.model = model
        self._documented_call = documented_call
        self._api_key = api_key
        self._base_url = base_url
        self._http_client = http_client

    @property
    def context_window(self) -> int | None:
        """The model's window in tokens, or None where it is unknown."""
        return prices.context_window(self.name, self.model)

    def assert_ready(self) -> None:
        """Raise `ProviderError` where there is no key and no other way to be let in; nothing is sent."""
        key = self._api_key
        if callable(key):
            return
        if key is not None:
            if not key.strip():
                raise blank_key(self.name)
            check_key(key.strip(), self.name, "api_key")
        elif any(os.environ.get(name, "").strip() for name in _KEYS):
            self._key_of_environment()
        else:
            import anthropic

            # What else there may be (profiles, headers) is for the SDK to find.
            try:
                client = anthropic.Anthropic(base_url=self._base_url, open_telemetry={"traces": False})
            except anthropic.AnthropicError as error:
                raise self._unusable(error) from error
            with client:
                self._assert_credentials(client)

    async def stream(self, request: Request) -> AsyncIterator[Delta | AssistantMessage]:
        """Send the request once; see `Provider.stream`."""
        check_request(request)
        body = encode(request, self.model)
        headers = body.pop("extra_headers", None)
        check_body(body, request)
        key = await ask_key(self._api_key)
        client = await self._client(key)
        reader = MessageReader(FreshIds(request.blocks.transcript), self.model, body["max_tokens"])
        try:
            events = await post_stream(client, body, headers, documented=self._documented_call)
            async with events:
                whole = await unstreamed_body(events, self.name, self.model)
                if whole is not None:
                    raise unreadable(whole, self.name)
                async for event in events:
                    delta = reader.read(event)
                    if delta is not None:
                        yield delta
            message = priced(reader.message())
        except ProviderError:
            raise
        except Exception as error:
            raise provider_error(
                error,
                self.name,
                self.model,
                key=key or client.api_key or client.auth_token,
                key_name="" if self._api_key else "ANTHROPIC_API_KEY",
                url=str(client.base_url),
            ) from error
        yield message

    async def _client(self, key: str | None) -> AsyncAnthropic:
        import anthropic
        import httpx2

        if self._api_key is None:
            key = self._key_of_environment()
        elif key is None:
            raise blank_key(self.name)
        else:
            check_key(key, self.name, "api_key")
        pool = self._http_client or await connection_pool(self.name, anthropic.DefaultAsyncHttpxClient)

        def make() -> AsyncAnthropic:
            return anthropic.AsyncAnthropic(
                api_key=key,
                base_url=self._base_url,
                http_client=pool,
                max_retries=0,
                timeout=httpx2.Timeout(READ_SECONDS, connect=CONNECT_SECONDS),
                open_telemetry={"traces": False},
            )

        environment = tuple(os.environ.get(name) for name in _ENVIRONMENT)
        try:
            client = loop_client((self.name, key, self._base_url, id(pool), environment), make)
        except anthropic.AnthropicError as error:
            raise self._unusable(error) from error
        self._assert_credentials(client)
        return client

    def _key_of_environment(self) -> str | None:
        """The key where the SDK would find it with blanks around it, which no header can hold; else None."""
        raw, token = (os.environ.get(name, "") for name in _KEYS)
        if token.strip() and not raw:  # beside a key the SDK leaves a token alone
            check_key(token, self.name, _KEYS[1])
        key = check_key(raw.strip(), self.name, _KEYS[0])
        return None if key == raw else key or None

    def _assert_credentials(self, client: AsyncAnthropic | Anthropic) -> None:
        headers = [value for name, value in client.default_headers.items() if name.lower() in _AUTH_HEADERS]
        if client.credentials is None and not any(str(value).removeprefix("Bearer").strip() for value in headers):
            raise missing_key(self.name, "ANTHROPIC_API_KEY")

    def _unusable(self, error: Exception) -> ProviderError:
        return ProviderError("configuration", self.name, f"no usable credentials: {masked(str(error))}")


async def post_stream(
    client: AsyncAnthropic, body: dict[str, Any], headers: Mapping[str, str] | None = None, *, documented: bool = False
) -> Any:
    """Post `body` (with `stream` set) by the SDK's public `post`, and give its stream of events.

    The documented `create` copies every part of every message before each request; `documented` goes by it.
    """
    from anthropic import AsyncStream
    from anthropic.types import Message, RawMessageStreamEvent

    if documented:
        return await documented_stream(client.messages.create, body, "messages", headers)
    return await client.post(
        "/v1/messages",
        cast_to=Message,
        content=body_bytes({**body, "stream": True}, "messages"),
        options={"headers": {"Content-Type": "application/json", **(headers or {})}},
        stream=True,
        stream_cls=AsyncStream[RawMessageStreamEvent],
    )
