from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import pytest

from hookagent.providers.clients import connection_pool, loop_client
from hookagent.testing import Reply, StrictServer


class Pool:
    def __init__(self) -> None:
        self.closed = False

    async def aclose(self) -> None:
        self.closed = True


def test_one_pool_for_each_vendor_and_loop_closed_with_the_loop() -> None:
    async def use() -> list[Pool]:
        pools = [await connection_pool(vendor, Pool) for vendor in ("a", "b", "a")]
        assert not any(pool.closed for pool in pools)
        return pools

    first, second = asyncio.run(use()), asyncio.run(use())
    assert first[0] is first[2]
    assert first[0] is not first[1]
    assert first[0] is not second[0]
    assert all(pool.closed for pool in [*first, *second])


def test_clients_are_bounded_and_pools_stay() -> None:
    async def use() -> None:
        pool = await connection_pool("a", Pool)
        clients = [loop_client(("x", n), object) for n in range(200)]
        assert loop_client(("x", 199), object) is clients[199]
        assert loop_client(("x", 0), object) is not clients[0]
        assert await connection_pool("a", Pool) is pool

    asyncio.run(use())


def test_one_sdk_client_serves_all_providers_of_a_loop(
    wire: Any, make_request: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import anthropic
    import openai

    made: list[type] = []
    for module, name in ((anthropic, "AsyncAnthropic"), (openai, "AsyncOpenAI")):
        original = getattr(module, name)

        def make(original: Any = original, **options: Any) -> Any:
            made.append(original)
            return original(**options)

        monkeypatch.setattr(module, name, make)
    with StrictServer(lambda body: Reply(text="x")) as server:

        async def use() -> None:
            for _ in range(3):
                async for _item in wire.provider(server).stream(make_request("hi")):
                    pass

        asyncio.run(use())
    assert len(made) == 1


def test_no_trace_headers_and_no_retries_of_the_sdk(wire: Any, make_request: Any, ask: Any) -> None:
    with StrictServer([Reply(text="x")]) as server:
        ask(wire.provider(server), make_request("hi"))
        headers = server.requests[0].headers
    assert "traceparent" not in headers
    assert headers["x-stainless-retry-count"] == "0"


def test_a_pool_of_the_callers_is_used_and_left_open(wire: Any, make_request: Any) -> None:
    import httpx2

    with StrictServer([Reply(text="x")]) as server:
        url = server.anthropic_url if wire.name == "anthropic" else server.openai_url

        async def use() -> bool:
            async with httpx2.AsyncClient() as pool:
                provider = wire.make(wire.model, api_key="k", base_url=url, http_client=pool)
                async for _ in provider.stream(make_request("hi")):
                    pass
                return bool(pool.is_closed)

        assert asyncio.run(use()) is False


def test_no_sdk_is_imported_before_the_first_request() -> None:
    code = (
        "import sys\n"
        "from hookagent.providers.routing import provider_for\n"
        "import hookagent.providers.retry, hookagent.completion\n"
        "for name in ('anthropic:claude-sonnet-5', 'openai:gpt-5', 'openai-chat:x'): provider_for(name)\n"
        "heavy = {'anthropic', 'openai', 'pydantic', 'httpx2', 'yaml', 'genai_prices', 'rich'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_package_gives_its_names_when_they_are_asked_for() -> None:
    import hookagent.providers as providers

    for name in providers.__all__:
        assert getattr(providers, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        providers.Nothing  # noqa: B018
