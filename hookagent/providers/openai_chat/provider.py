"""The provider `openai-chat`: Chat Completions, at OpenAI and at every compatible server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from hookagent.errors import ProviderError
from hookagent.messages import AssistantMessage
from hookagent.providers import prices
from hookagent.providers.base import Delta
from hookagent.providers.call_ids import FreshIds
from hookagent.providers.clients import Key
from hookagent.providers.decoding import priced
from hookagent.providers.failures import provider_error
from hookagent.providers.openai_chat import WIRE
from hookagent.providers.openai_chat.decode import ChatReader
from hookagent.providers.openai_chat.encode import encode
from hookagent.providers.openai_client import OpenAIConnection, post_stream
from hookagent.providers.refusals import refused_parameter
from hookagent.providers.settings import is_openai_model
from hookagent.providers.unstreamed import unstreamed_body
from hookagent.providers.wire.openai_chat import check_body
from hookagent.providers.wire.request_rules import check_request
from hookagent.requests import Request

if TYPE_CHECKING:
    import httpx2

_LIMIT_NAMES = ("max_completion_tokens", "max_tokens")


class OpenAIChatProvider:
    """Any model behind the Chat Completions API. `model` is a model's name without prefix.

    `base_url` (or OPENAI_BASE_URL) points at a compatible server; there a key may be missing. `api_key` is a key or a
    function that is asked before each request, else OPENAI_API_KEY holds. `http_client` is an `httpx2.AsyncClient`
    of the caller's, who also closes it. `documented_call` sends by the SDK's documented call, which is slower.
    """

    name = "openai-chat"
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
        self._limit_name: str | None = None
        self._without: frozenset[str] = frozenset()

    @property
    def context_window(self) -> int | None:
        """The model's window in tokens, or None where it is unknown."""
        return prices.context_window(self.name, self.model)

    def assert_ready(self) -> None:
        """Raise `ProviderError` where there is no key and one is needed; nothing is sent."""
        self._connection.assert_ready()

    async def stream(self, request: Request) -> AsyncIterator[Delta | AssistantMessage]:
        """Send the request once; see `Provider.stream`.

        A server that refuses the name of the output limit, or the wish for usage counts, is asked once more without,
        and the finding is remembered.
        """
        check_request(request)
        connection = self._connection
        key = await connection.key()
        for _ in range(3):
            limit_name = self._limit_name or self._usual_limit_name()
            body = encode(
                request, self.model, limit_name=limit_name, is_foreign=connection.is_foreign, without=self._without
            )
            check_body(body, request)
            try:
                events = await self._post(body, key)
                break
            except ProviderError as error:
                if not self._learn(error, limit_name, body):
                    raise
        else:
            raise ProviderError("invalid_request", self.name, "the server refuses the request in every form we know")
        reader = ChatReader(FreshIds(request.blocks.transcript), self.model, body.get(limit_name))
        try:
            async with events:
                whole = await unstreamed_body(events, self.name, self.model)
                async for event in events if whole is None else _only(whole):
                    for delta in reader.read(event):
                        yield delta
            message = priced(reader.message())
        except ProviderError:
            raise
        except Exception as error:
            raise self._failure(error, key) from error
        yield message

    def _usual_limit_name(self) -> str:
        return _LIMIT_NAMES[0] if not self._connection.is_foreign or is_openai_model(self.model) else _LIMIT_NAMES[1]

    async def _post(self, body: dict[str, Any], key: str) -> Any:
        client = await self._connection.client()
        from openai.types.chat import ChatCompletion, ChatCompletionChunk

        try:
            return await post_stream(
                client,
                "/chat/completions",
                body,
                key,
                ChatCompletionChunk,
                ChatCompletion,
                documented=self._documented_call,
            )
        except Exception as error:
            raise self._failure(error, key) from error

    def _learn(self, error: ProviderError, limit_name: str, body: dict[str, Any]) -> bool:
        """Whether the refusal teaches us another form in which to send the same request."""
        if error.kind not in ("unsupported_setting", "invalid_request"):
            return False
        parameter = refused_parameter(str(error))
        if parameter in ("stream_options", "include_usage") and "stream_options" in body:
            self._without |= {"stream_options"}
            return True
        if parameter == limit_name and self._limit_name is None and limit_name in body:
            self._limit_name = next(name for name in _LIMIT_NAMES if name != limit_name)
            return True
        return False

    def _failure(self, error: Exception, key: str) -> ProviderError:
        own = self._connection.has_own_key
        url = self._connection.base_url or ""
        return provider_error(error, self.name, self.model, key=key, key_name="" if own else "OPENAI_API_KEY", url=url)


async def _only(whole: dict[str, Any]) -> AsyncIterator[Any]:
    """A reply that came at once, as a stream of one chunk."""
    from openai.types.chat import ChatCompletion

    yield ChatCompletion.construct(**whole)
