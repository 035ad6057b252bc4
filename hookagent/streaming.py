"""Events as a stream: read from a queue beside the run, never the run itself.

A loop that is itself an async generator swallows its caller's time-outs, and leaving it leaves the run half
alive; here leaving aborts the run and waits for its end.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any

from hookagent.emitter import Listener
from hookagent.errors import MisuseError
from hookagent.events import Event


async def stream_events(
    start: Callable[[], Coroutine[Any, Any, Any]],
    subscribe: Callable[[Listener], Callable[[], None]],
    abort: Callable[[str], None],
) -> AsyncGenerator[Event, None]:
    """Start a run and yield its events; at the end, raise what it raised. Leaving early aborts it."""
    events: asyncio.Queue[Event | None] = asyncio.Queue()
    unsubscribe = subscribe(events.put_nowait)
    task = asyncio.ensure_future(start())
    task.add_done_callback(lambda _: events.put_nowait(None))
    try:
        while (event := await events.get()) is not None:
            yield event
        await task
    finally:
        unsubscribe()
        if not task.done():
            abort("the stream was left")
            await asyncio.wait({task})


def refuse_async_listener(listener: Listener) -> None:
    """Raise `MisuseError` for a listener whose coroutine nobody would wait for."""
    if inspect.iscoroutinefunction(listener) or inspect.iscoroutinefunction(type(listener).__call__):
        name = getattr(listener, "__qualname__", type(listener).__name__)
        raise MisuseError(
            f"listener '{name}' is 'async def', but listeners are not waited for; make it plain, or use stream(...)"
        )
