"""Sending to OpenAI and compatible servers with OpenAI's own SDK, by its public `client.post`.

The documented `create` walks every message of the body against its types on each call (0.15 ms a message); `post`
is the SDK's way for endpoints without a wrapper, with the same time-outs, error classes and typed events.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from hookagent.providers.body_bytes import body_bytes
from hookagent.providers.clients import CONNECT_SECONDS, READ_SECONDS, Key, ask_key, connection_pool, loop_client
from hookagent.providers.documented_call import documented_stream
from hookagent.providers.keys import blank_key, check_key, is_foreign_server, missing_key

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

_ENVIRONMENT = ("OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS")
DUMMY_KEY = "none"
"""Sent to a server of one's own where no key is set: the SDK wants one, such servers do not look at it."""


class OpenAIConnection:
    """How one provider reaches its server: key, address, pool. Nothing is imported before the first request."""

    def __init__(
        self, provider: str, api_key: Key | None, base_url: str | None, http_client: httpx2.AsyncClient | None
    ) -> None:
        self.provider = provider
        self.has_own_key = api_key is not None
        self._api_key = api_key
        self._base_url = base_url
        self._http_client = http_client

    @property
    def base_url(self) -> str | None:
        """The address that is set, in the call or in the environment; None means OpenAI's own."""
        return self._base_url or os.environ.get("OPENAI_BASE_URL", "").strip() or None

    @property
    def is_foreign(self) -> bool:
        """Whether the server is somebody else's than OpenAI's."""
        return is_foreign_server(self.base_url)

    def assert_ready(self) -> None:
        """Raise `ProviderError` (`configuration`) where there is no key and one is needed; a function is not asked."""
        if not callable(self._api_key):
            self._needed(self._known_key())

    async def key(self) -> str:
        """The key as it is now; a server of one's own may need none. Raises as `assert_ready` does."""
        return self._needed(await ask_key(self._api_key) if callable(self._api_key) else self._known_key())

    def _known_key(self) -> str | None:
        key = self._api_key if self._api_key is not None else os.environ.get("OPENAI_API_KEY")
        return key.strip() or None if isinstance(key, str) else None

    def _needed(self, key: str | None) -> str:
        if key is not None:
            return check_key(key, self.provider, "api_key" if self._api_key is not None else "OPENAI_API_KEY")
        if self._api_key is not None:
            raise blank_key(self.provider)
        if self.is_foreign:
            return DUMMY_KEY
        raise missing_key(self.provider, "OPENAI_API_KEY")

    async def client(self) -> AsyncOpenAI:
        """The SDK's client for the running event loop; the key goes with each request instead."""
        import httpx2
        import openai

        pool = self._http_client or await connection_pool("openai", openai.DefaultAsyncHttpxClient)
        base_url = self.base_url

        def make() -> AsyncOpenAI:
            return openai.AsyncOpenAI(
                api_key=DUMMY_KEY,
                base_url=base_url,
                http_client=pool,
                max_retries=0,
                timeout=httpx2.Timeout(READ_SECONDS, connect=CONNECT_SECONDS),
            )

        environment = tuple(os.environ.get(name) for name in _ENVIRONMENT)
        return loop_client(("openai", base_url, id(pool), environment), make)


async def post_stream(
    client: AsyncOpenAI,
    path: str,
    body: dict[str, Any],
    key: str,
    event_type: Any,
    whole_type: Any,
    *,
    documented: bool = False,
) -> Any:
    """Post `body` (with `stream` set) and give the SDK's stream of `event_type` objects.

    What the body has as `extra_headers` is sent as headers. `documented` goes by the SDK's documented call.
    """
    from openai import AsyncStream

    is_chat = "messages" in body
    messages = "messages" if is_chat else "input"
    headers = {"Authorization": f"Bearer {key}", **(body.pop("extra_headers", None) or {})}
    if documented:
        create: Any = client.chat.completions.create if is_chat else client.responses.create
        return await documented_stream(create, body, messages, headers)
    return await client.post(
        path,
        cast_to=whole_type,
        content=body_bytes({**body, "stream": True}, messages),
        options={"headers": {"Content-Type": "application/json", **headers}},
        stream=True,
        stream_cls=AsyncStream[event_type],
    )
