"""The provider `openai`: OpenAI's models through the Responses API and OpenAI's own SDK."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from hookagent.errors import ProviderError
from hookagent.messages import AssistantMessage
from hookagent.providers import prices
from hookagent.providers.base import Delta
from hookagent.providers.call_ids import FreshIds
from hookagent.providers.clients import Key
from hookagent.providers.decoding import priced
from hookagent.providers.failures import provider_error
from hookagent.providers.openai_client import OpenAIConnection, post_stream
from hookagent.providers.openai_responses import WIRE
from hookagent.providers.openai_responses.decode import ResponseReader
from hookagent.providers.openai_responses.encode import encode
from hookagent.providers.unstreamed import unreadable, unstreamed_body
from hookagent.providers.wire.openai_responses import check_body
from hookagent.providers.wire.request_rules import check_request
from hookagent.requests import Request

if TYPE_CHECKING:
    import httpx2


class OpenAIResponsesProvider:
    """OpenAI's models, stateless: nothing is stored there. `model` is a model's name without prefix.

    `api_key` is a key or a function that is asked before each request; without one, and without `base_url`,
    OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_ORG_ID and OPENAI_PROJECT_ID hold. At a server of one's own, a key may be
    missing. `http_client` is an
    `httpx2.AsyncClient` of the caller's, who also closes it. `documented_call` sends by the SDK's documented call,
    which is slower.
    """

    name = "openai"
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
        self._connection = OpenAIConnection(self.name, api_key, base_url, http_client)

    @property
    def context_window(self) -> int | None:
        """The model's window in tokens, or None where it is unknown."""
        return prices.context_window(self.name, self.model)

    def assert_ready(self) -> None:
        """Raise `ProviderError` where there is no key and one is needed; nothing is sent."""
        self._connection.assert_ready()

    async def stream(self, request: Request) -> AsyncIterator[Delta | AssistantMessage]:
        """Send the request once; see `Provider.stream`."""
        check_request(request)
        body = encode(request, self.model)
        check_body(body, request)
        connection = self._connection
        key = await connection.key()
        client = await connection.client()
        reader = ResponseReader(FreshIds(request.blocks.transcript), self.model, body.get("max_output_tokens"))
        from openai.types.responses import Response, ResponseStreamEvent

        try:
            events = await post_stream(
                client, "/responses", body, key, ResponseStreamEvent, Response, documented=self._documented_call
            )
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
            key_name = "" if connection.has_own_key else "OPENAI_API_KEY"
            raise provider_error(
                error, self.name, self.model, key=key, key_name=key_name, url=str(client.base_url)
            ) from error
        yield message
