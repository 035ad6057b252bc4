"""The end of a session: `on_session_end` is called once for each session that started, the process's end included."""

from __future__ import annotations

import asyncio
import atexit
import logging
import weakref
from typing import TYPE_CHECKING

from hookagent.dispatch import HookTable
from hookagent.errors import PluginError
from hookagent.loop.run import Run
from hookagent.private_loop import start_in_private_loop
from hookagent.session import SessionState

if TYPE_CHECKING:
    from hookagent.agent import Agent

# Weak, so that an agent that nobody closed and nobody has any more goes, with its session's end.
_open: weakref.WeakValueDictionary[int, Agent] = weakref.WeakValueDictionary()
_registered = False


def expect_end(agent: Agent, hooks: HookTable) -> None:
    """Remember an agent whose session starts, where a plugin wants to hear of its end."""
    if not hooks.on_session_end:
        return
    global _registered
    if not _registered:
        _registered = True
        atexit.register(_end_all)
    _open[id(agent)] = agent


async def end_session(agent: Agent, state: SessionState, hooks: HookTable, run: Run) -> None:
    """Call `on_session_end` of every plugin, once; raises the first `PluginError` when all were called."""
    _open.pop(id(agent), None)
    if state.ended:
        return
    state.ended = True
    if not state.started:
        return
    failure: BaseException | None = None
    for implementation in hooks.on_session_end:
        try:
            await run.dispatch.one(implementation)
        except (PluginError, KeyboardInterrupt) as raised:
            failure = failure or raised
    run.supervisor.close()
    for warning in run.warnings:
        logging.getLogger("hookagent").warning("%s", warning)
    if failure is not None:
        raise failure


def end_forgotten(agent: Agent, state: SessionState) -> None:
    """End the session of an agent that is being collected: beside it, since a collection may come anywhere."""
    if not state.started or state.ended:
        return
    try:
        start_in_private_loop(agent.close)
    except RuntimeError:
        state.ended = True  # the process ends, and `_end_all` has had its turn


def _end_all() -> None:
    """Close what nobody closed; at the end of the process a failure can only be said."""
    import sys

    for agent in tuple(_open.values()):
        try:
            try:
                agent.close_sync()
            except RuntimeError:  # from Python 3.12 on no thread can be started any more at this point
                asyncio.run(agent.close())
        except Exception as error:
            print(f"hookagent: {error}", file=sys.stderr)
