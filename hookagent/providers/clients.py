"""SDK clients: one connection pool per vendor and event loop, closed with the loop.

Making a pool costs about 20 ms (the TLS context), so it is shared by all agents of a loop; an SDK client over a
pool that is there costs next to nothing.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

Client = TypeVar("Client")
Key = str | Callable[[], str | Awaitable[str]]
"""A key, or a function (plain or `async`) that is asked for it before each request."""

CONNECT_SECONDS = 10.0
READ_SECONDS = 600.0
"""How long nothing may come: local servers read a long prompt for minutes before the first word."""
_KEPT_CLIENTS = 64


class _LoopClients:
    __slots__ = ("clients", "keepers")

    def __init__(self) -> None:
        self.clients: dict[Hashable, Any] = {}
        self.keepers: list[AsyncIterator[None]] = []


_BY_LOOP: WeakKeyDictionary[asyncio.AbstractEventLoop, _LoopClients] = WeakKeyDictionary()


def loop_client(key: Hashable, make: Callable[[], Client]) -> Client:
    """The client kept under `key` for the running event loop, made when first asked for."""
    clients = _of_loop().clients
    client = clients.get(key)
    if client is None:
        if len(clients) >= _KEPT_CLIENTS:
            # The pools stay; what goes is made again at little cost.
            clients.pop(next(old for old in clients if not (isinstance(old, tuple) and old[0] == "pool")))
        client = clients[key] = make()
    return cast(Client, client)


async def connection_pool(vendor: str, make: Callable[[], Client]) -> Client:
    """The vendor's connection pool for the running event loop; it is closed when the loop's generators are."""
    of_loop = _of_loop()
    kept = of_loop.clients.get(("pool", vendor))
    if kept is None:
        kept = of_loop.clients[("pool", vendor)] = make()
        # `asyncio.run` and runners shut down the loop's generators before they close it: the one moment at which
        # connections can still be closed, without anybody having to call something.
        keeper = _close_at_shutdown(of_loop, kept)
        of_loop.keepers.append(keeper)
        await anext(keeper)
    return cast(Client, kept)


async def _close_at_shutdown(of_loop: _LoopClients, pool: Any) -> AsyncIterator[None]:
    try:
        yield
    finally:
        of_loop.clients.clear()
        await pool.aclose()


async def ask_key(key: Key | None) -> str | None:
    """The key as it is now; a function is asked, and awaited where it is `async`. Blank counts as none."""
    if key is None or isinstance(key, str):
        value: object = key
    else:
        answer = key()
        value = await answer if inspect.isawaitable(answer) else answer
    return value.strip() or None if isinstance(value, str) else None


def _of_loop() -> _LoopClients:
    loop = asyncio.get_running_loop()
    found = _BY_LOOP.get(loop)
    if found is None:
        found = _BY_LOOP[loop] = _LoopClients()
    return found
