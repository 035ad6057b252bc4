"""A run inside of a tool of another run: it has its own session, and what it does is told to the outer run's listeners.

That it stands under the outer run's limits, abort and gates is the work of `Budget`, `running` and `with_gates_of`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from hookagent.emitter import Listener
from hookagent.events import Event, Nested
from hookagent.loop.run import Run
from hookagent.tools.context import ToolContext, calling_context


@contextlib.contextmanager
def told_outside(run: Run, console: Listener | None = None) -> Iterator[None]:
    """Tell what happens in `run` beside its own listeners, for as long as the `with` block lasts.

    A nested run is told to the run that it is nested in, as `Nested` events; any other one to `console`, if given.
    """
    context, emitter = calling_context(), run.emitter
    outer = run.parent
    if outer is None or context is None:
        end = emitter.subscribe(console) if console is not None else None
    elif any(one.emitter is emitter for one in _outwards(outer)):
        end = None  # a tool that calls a tool of its own agent, or of one further out: they hear of it already
    else:
        end = emitter.relay(_relay(context, outer, run))
    try:
        yield
    finally:
        if end is not None:
            end()


def _relay(context: ToolContext, outer: Run, run: Run) -> Listener:
    emitter, call_id, agent, session_id = outer.emitter, context.call_id, run.agent.name, run.session.id

    def relay(event: Event) -> None:
        if emitter.heard or emitter.relayed:
            # The inner run may be in another event loop.
            context.hand_over(emitter.emit, Nested, call_id, agent, session_id, event)

    return relay


def _outwards(run: Run) -> Iterator[Run]:
    """A run, and those that it is nested in, from the inside out."""
    one: Run | None = run
    while one is not None:
        yield one
        one = one.parent
