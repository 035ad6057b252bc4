"""Bad plugins: each is refused with where, what and a remedy."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from hookagent import (
    BlockView,
    Transcript,
    hookimpl,
)
from hookagent.testing import FakeClock
from tests.core.plugin_making import Around, made
from tests.testing.refusing import refusal

LEFT: set[asyncio.Task[Any]] = set()


def raising(**given: Any) -> None:
    raise ValueError("out of ideas")


def changing_arguments(tool_call: Any) -> None:
    if tool_call.arguments:
        dict.__setitem__(tool_call.arguments, "item", "changed")


def changing_a_result(result: Any) -> None:
    object.__setattr__(result, "content", "changed")


def assigning(result: Any) -> None:
    result.content = "changed"


def changing_the_past(session: Any) -> None:
    session._state.transcript = Transcript(list(session.transcript)[:-1])


class Remembering:
    """Counts the calls of each session, and begins to count when a session begins."""

    name = "bad"

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    @hookimpl
    def on_session_start(self, session: Any) -> None:
        self.counts[session.id] = 0

    @hookimpl
    def before_each_tool(self, session: Any) -> None:
        self.counts[session.id] += 1


class Parrot:
    """Answers a request as it answered one of the same length before."""

    name = "bad"

    def __init__(self) -> None:
        self.replies: dict[int, Any] = {}

    @hookimpl
    async def wrap_model_call(self, request: Any, call_next: Any) -> Any:
        return self.replies.setdefault(len(request.blocks), await call_next(request))


async def answering_wrongly(tool_call: Any, call_next: Any) -> Any:
    await call_next()
    return "a text"


async def failing_around(request: Any, call_next: Any) -> Any:
    reply = await call_next(request)
    return replace(reply, parts=(), stop_reason="unknown")


def dropping_the_task(request: Any) -> Any:
    view = request.blocks
    return replace(request, blocks=BlockView(view.transcript, 1)) if len(view) > 1 else None


def leaving_a_task(session: Any) -> None:
    LEFT.add(asyncio.get_running_loop().create_task(_forever()))


async def _forever() -> None:
    await asyncio.get_running_loop().create_future()


def forgetting_to_await(session: Any) -> None:
    _forever()  # type: ignore[unused-coroutine]


def losing_an_exception(session: Any) -> None:
    async def lost() -> None:
        raise LookupError("nobody hears this")

    asyncio.get_running_loop().create_task(lost())


class Gossip:
    """Keeps what was said last in itself, whoever said it."""

    def __init__(self) -> None:
        self.last = ""

    @hookimpl
    def after_user_input(self, message: Any) -> None:
        self.last = message.text

    @hookimpl
    def after_tools(self) -> str:
        return f"remember: {self.last}"


def meddling(session: Any) -> None:
    os.environ["A_PLUGIN_WAS_HERE"] = session.id


def loud(session: Any) -> None:
    logging.getLogger().setLevel(logging.getLogger().level + 1)


BAD: dict[str, tuple[Callable[[], Any], tuple[str, ...]]] = {
    "raises": (
        lambda: made("bad", after_tools=lambda tool_round: raising()),
        (
            "run 'three tools, parallel': hook 'after_tools': raised ValueError: out of ideas",
            "what to do: catch what may fail",
            "also in: run 'three tools, sequential'",
        ),
    ),
    "raises at the end": (
        lambda: made("bad", on_complete=lambda outcome: raising()),
        ("run 'no tools': hook 'on_complete': ", "raised ValueError: out of ideas"),
    ),
    "raises at the end of the session": (
        lambda: made("bad", on_session_end=lambda session: raising()),
        ("run 'no tools': hook 'on_session_end': raised ValueError",),
    ),
    "knows only the sessions that it saw begin": (
        lambda: Remembering(),
        (
            "run 'a nested agent, and a tool called without the model': hook 'before_each_tool': raised KeyError",
            "what to do: catch what may fail",
        ),
    ),
    "passes something on to a tool": (
        lambda: Around("bad", tool=lambda tool_call, call_next: call_next(tool_call)),
        ("hook 'wrap_tool_call': raised MiscalledError: call_next() takes nothing here, not a ToolCall",),
    ),
    "a message in an open round": (
        lambda: made("bad", after_each_tool=lambda result: "a note"),
        (
            "run 'three tools, parallel': hook 'after_each_tool': returned a message, which cannot stand there",
            "what to do: no message can stand between calls and their results",
        ),
    ),
    "a blank message": (
        lambda: made("bad", after_tools=lambda tool_round: " "),
        ("hook 'after_tools': returned a blank message",),
    ),
    "a wrong type": (
        lambda: made("bad", before_each_tool=lambda tool_call: True),
        ("hook 'before_each_tool': returned a bool", "only what the table of hooks allows"),
    ),
    "a wrong result": (
        lambda: Around("bad", tool=answering_wrongly),
        ("run 'three tools, parallel': hook 'wrap_tool_call': returned a",),
    ),
    "a reply of nothing": (
        lambda: Around("bad", model=failing_around),
        ("run 'no tools': ", "the run ended as 'failed' instead of 'completed'"),
    ),
    "changes arguments in place": (
        lambda: made("bad", before_each_tool=changing_arguments),
        (
            "run 'three tools, parallel': hook 'before_each_tool': the tool_call that hooks were given was changed",
            "what to do: return a changed copy",
        ),
    ),
    "changes a result in place": (
        lambda: made("bad", after_each_tool=changing_a_result),
        ("hook 'after_each_tool': the result that hooks were given was changed in place",),
    ),
    "assigns to what is frozen": (
        lambda: made("bad", after_each_tool=assigning),
        ("hook 'after_each_tool': raised FrozenInstanceError", "what to do: return a changed copy"),
    ),
    "changes the transcript": (
        lambda: made("bad", before_complete=changing_the_past),
        ("the stored transcript was changed, which only grows",),
    ),
    "a request that no provider takes": (
        lambda: made("bad", shape_request=dropping_the_task),
        ("run 'three tools, parallel': hook 'shape_request': made a request that cannot be sent",),
    ),
    "drops the system text": (
        lambda: made("bad", shape_request=lambda request: replace(request, system="")),
        ("hook 'shape_request': ", "the system text was dropped"),
    ),
    "aborts": (
        lambda: made("bad", before_llm=lambda agent: agent.abort("enough")),
        ("the run ended as 'aborted' instead of 'completed': enough", "Stop(reason)"),
    ),
    "leaves a task": (
        lambda: made("bad", on_session_start=leaving_a_task),
        ("run 'no tools': a task was left running: _forever", "on_session_end"),
    ),
    "forgets to await": (
        lambda: made("bad", on_session_start=forgetting_to_await),
        ("Python warned of RuntimeWarning: coroutine '_forever' was never awaited",),
    ),
    "loses an exception": (
        lambda: made("bad", on_session_start=losing_an_exception),
        ("an exception was lost: Task exception was never retrieved: LookupError: nobody hears this",),
    ),
    "gossips": (
        Gossip,
        ("two sessions at the same time: what one session said was told in another one", "by 'session.id'"),
    ),
    "answers one session with what another one was told": (
        lambda: Parrot,
        ("two sessions at the same time: what one session said was told in another one", "by 'session.id'"),
    ),
    "changes the environment": (
        lambda: made("bad", on_session_start=meddling),
        ("all runs together: the environment (A_PLUGIN_WAS_HERE) changed while the plugin was at work",),
    ),
    "changes the log level": (
        lambda: made("bad", on_session_start=loud),
        ("the level of the root logger changed",),
    ),
    "an unknown hook": (
        lambda: made("bad", after_everything=lambda session: None),
        ("loading: no agent can be made with it: unknown hook 'after_everything'",),
    ),
    "an unknown argument": (
        lambda: made("bad", after_tools=lambda round: None),
        ("loading: no agent can be made with it: hook 'after_tools' has no argument 'round'",),
    ),
    "no hook": (object, ("loading: no agent can be made with it: implements no hook",)),
    "tools that fail to register": (
        lambda: made("bad", register_tools=lambda register: register("nothing of that name")),
        ("loading: no agent can be made with it: ",),
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_plugin_is_refused_with_where_what_and_a_remedy(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_PLUGIN_WAS_HERE", "not yet")
    level = logging.getLogger().level
    make, says = BAD[name]
    try:
        text = refusal(make())
    finally:
        logging.getLogger().setLevel(level)
        LEFT.clear()
    for expected in (*says, "what to do: "):
        assert expected in text, text
    assert text.startswith("plugin '")


@pytest.mark.parametrize("seconds", [2.0, 61.0])
def test_a_slow_hook_is_named(seconds: float) -> None:
    clock = FakeClock()

    async def waiting(iteration: int) -> None:
        clock.advance(seconds)
        if seconds > 60:
            await asyncio.get_running_loop().create_future()

    plain = refusal(made("slow", before_llm=lambda iteration: clock.advance(2.0)), clock=clock)
    assert "run 'no tools': hook 'before_llm': slow: took 2.0 s (" in plain
    text = refusal(made("slow", before_llm=waiting), clock=clock)
    assert f"hook 'before_llm': {'slow: took 2.0 s' if seconds < 60 else 'overran its time limit of 60 s'}" in text


def test_a_hook_that_never_ends_is_said_after_the_first_run() -> None:
    class Endless:
        time_limit = None

        @hookimpl
        async def before_llm(self) -> None:
            await _forever()

    text = refusal(Endless(), seconds=0.2)
    assert text.startswith("plugin 'Endless': ")
    assert "1. run 'no tools': the run did not end" in text
    assert "in 1 reference runs" in text
