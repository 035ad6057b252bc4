"""The end of a session: `on_session_end` is called once for each session that started, the process's end included."""

from __future__ import annotations

import asyncio
import atexit
import logging
import weakref
from dataclasses import replace
from typing import TYPE_CHECKING

from hookagent.errors import MisuseError, PluginError
from hookagent.implementations import HookTable
from hookagent.loop.run import Run
from hookagent.private_loop import start_in_private_loop
from hookagent.session import SessionState

if TYPE_CHECKING:
    from hookagent.agent import Agent
    from hookagent.session_box import SessionBox

# Weak, so that an agent that nobody closed and nobody has any more goes, with its session's end.
_open: weakref.WeakValueDictionary[int, Agent] = weakref.WeakValueDictionary()
_registered = False
# The sessions whose plugins are just being told of the end.
_ending: set[int] = set()


def expect_end(agent: Agent, hooks: HookTable) -> None:
    """Remember an agent whose session starts, where a plugin wants to hear of its end."""
    if not hooks.on_session_end:
        return
    global _registered
    if not _registered:
        _registered = True
        atexit.register(_end_all)
    _open[id(agent)] = agent


def check_end(what: str, run: Run | None, state: SessionState) -> None:
    """Refuse to end a session while a run is active, and from within its own end. Raises `MisuseError`."""
    if run is not None:
        raise MisuseError(f"{what}: a run is active; abort() it and wait for its end first")
    if id(state) in _ending:
        raise MisuseError(f"{what}: the session is just being ended; call it when that is over")


async def end_session(agent: Agent, state: SessionState, hooks: HookTable, run: Run) -> None:
    """Call `on_session_end` of every plugin, once; raises the first `PluginError` when all were called.

    After an abort, what is left of that has the grace time.
    All of them are listed with the errors of the session's last run.
    """
    _open.pop(id(agent), None)
    if state.ended:
        return
    state.ended = True
    if not state.started:
        return
    failure: BaseException | None = None
    _ending.add(id(state))
    forget = run.supervisor.abort.on_abort(run.supervisor.interrupt_soon)
    try:
        for implementation in hooks.on_session_end:
            try:
                await run.dispatch.one(implementation)
            except (PluginError, KeyboardInterrupt) as raised:
                failure = failure or raised
                if isinstance(raised, PluginError):
                    run.errors.append(str(raised))
    finally:
        forget()
        _ending.discard(id(state))
    run.supervisor.close()
    for warning in run.warnings:
        logging.getLogger("hookagent").warning("%s", warning)
    last = agent.last_result
    if run.errors and last is not None:
        agent.last_result = replace(last, errors=(*last.errors, *run.errors))
    if failure is not None:
        raise failure


def end_forgotten(agent: Agent, box: SessionBox, hooks: HookTable) -> None:
    """End the session of an agent that nobody has any more.

    At once where nothing is left to be done; else beside it, since a collection may come anywhere.
    """
    state = box.state
    if not box.unsaved and (state.ended or not state.started or not hooks.on_session_end):
        state.ended = True
        box.close()
        return
    try:
        start_in_private_loop(lambda: _close(agent, box))
    except RuntimeError:
        state.ended = True  # the process ends, and `_end_all` has had its turn


async def _close(agent: Agent, box: SessionBox) -> None:
    try:
        await agent.close()
    finally:  # also where its event loop was closed in the middle of a run
        box.close()


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
