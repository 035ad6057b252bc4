"""What a call's result says, word for word, when it was stopped, when a hook failed, and when it could not begin."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator

from hookagent import PluginError, ToolResult, hookimpl
from hookagent.events import ErrorEvent, ToolEnd
from hookagent.transcript import ToolRound
from tests.core.plugin_making import Around, made
from tests.core.scripts import calls, make_agent, ok, quick
from tests.core.verdict_tables import both_modes

ANSWER = {"text": "done"}
PAIRS = pytest.mark.parametrize("names", [("quick",), ("quick", "ok")], ids=["alone", "beside"])


def results(agent: Any) -> list[Any]:
    return [one for block in agent.transcript if isinstance(block, ToolRound) for one in block.results]


def seen(result: ToolResult) -> tuple[str, bool, str, str | None]:
    return result.content, result.is_error, result.status, result.error_type


class Told:
    """A plugin that writes down what `on_error` is told of calls, and what `after_each_tool` sees."""

    name = "told"

    def __init__(self) -> None:
        self.log: list[tuple[str, str, str]] = []

    @hookimpl
    def on_error(self, error: Any, tool_call: Any) -> None:
        if tool_call is not None:
            self.log.append(("error", type(error).__name__, tool_call.id))

    @hookimpl
    def after_each_tool(self, tool_call: Any, result: Any) -> None:
        self.log.append(("after", result.status, tool_call.id))


async def stopped_midway(agent: Any, reason: str | None) -> Any:
    """Abort a run once its first call runs; `reason` None leaves it to the agent."""
    task = asyncio.ensure_future(agent.run("go"))
    while not any(one.type == "tool_start" for one in agent.session.trace):
        await asyncio.sleep(0)
    for _ in range(5):
        await asyncio.sleep(0)
    agent.abort() if reason is None else agent.abort(reason)
    return await task


async def waits() -> str:
    """Wait for ever."""
    await asyncio.Event().wait()
    return "never"


async def passes(given: Any, call_next: Any) -> Any:
    return await call_next()


# ---- calls that were stopped ----


@both_modes
@pytest.mark.parametrize("names", [("waits",), ("waits", "waits")])
@pytest.mark.parametrize("around", [False, True])
@pytest.mark.parametrize(
    ("reason", "why"),
    [
        ("enough", "aborted by user (enough)"),
        (None, "aborted by user (aborted by the caller)"),
        ("", "aborted by user"),
    ],
)
def test_a_call_that_an_abort_stopped_says_why_and_that_it_may_have_run(
    reason: str | None, why: str, around: bool, names: Any, mode: Any
) -> None:
    plugins = [Around("around", passes)] if around else []
    agent = make_agent([calls(*names)], *plugins, tools=[waits], tool_execution=mode)
    result = asyncio.run(stopped_midway(agent, reason))
    assert result.status == "aborted"
    stopped = (f"interrupted: {why} while it ran; it may have run", True, "interrupted", None)
    unstarted = ("not run: aborted by user before it started", True, "not_run", None)
    rest = [unstarted if mode == "sequential" else stopped] * (len(names) - 1)
    assert [seen(one) for one in results(agent)] == [stopped, *rest]


def test_a_call_beside_one_that_failed_the_run_says_that_it_was_cancelled() -> None:
    fails = made("fails", after_each_tool=lambda tool_call, result: 1 // 0 if tool_call.id == "c1" else None)
    agent = make_agent([calls("quick", "waits")], fails, tools=[waits, quick, ok])
    with pytest.raises(PluginError, match="ZeroDivisionError"):
        agent.run_sync("go")
    assert seen(results(agent)[1]) == (
        "interrupted: it was cancelled, by itself or because the run failed, while it ran; it may have run",
        True,
        "interrupted",
        None,
    )


@both_modes
@pytest.mark.parametrize("names", [("interrupts",), ("interrupts", "quick")])
def test_a_call_that_a_keyboard_interrupt_stopped_says_so(names: Any, mode: Any) -> None:
    async def interrupts() -> str:
        """Interrupt."""
        raise KeyboardInterrupt

    told = Told()
    agent = make_agent([calls(*names)], told, tools=[interrupts, quick, ok], tool_execution=mode)
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(agent.run("go"))
    assert seen(results(agent)[0]) == (
        "interrupted: the tool was stopped by a keyboard interrupt; it may have run",
        True,
        "interrupted",
        "KeyboardInterrupt",
    )
    assert ("error", "KeyboardInterrupt", "c1") not in told.log


# ---- hooks around a call that fail ----


@both_modes
@PAIRS
def test_a_call_whose_hook_failed_says_which(names: Any, mode: Any) -> None:
    async def breaks(tool_call: Any, call_next: Any) -> Any:
        if tool_call.name == "quick":
            raise ValueError("broken")
        return await call_next()

    told = Told()
    agent = make_agent([calls(*names)], Around("breaks", breaks), told, tool_execution=mode)
    with pytest.raises(PluginError) as raised:
        agent.run_sync("go")
    text = f"the call failed closed: {raised.value}"
    assert "hook 'wrap_tool_call' raised ValueError: broken" in text
    assert seen(results(agent)[0]) == (text, True, "error", "PluginError")
    assert [one for one in told.log if one[2] == "c1"] == [("after", "error", "c1")]
    ends = [one.result for one in agent.session.trace if isinstance(one, ToolEnd)]
    assert ends[0] == results(agent)[0]


@both_modes
@pytest.mark.parametrize("names", [("bad",), ("bad", "ok")])
def test_a_call_whose_hook_failed_after_the_tool_did_says_both(names: Any, mode: Any) -> None:
    async def breaks(tool_call: Any, call_next: Any) -> Any:
        result = await call_next()
        if result.is_error:
            raise ValueError("broken")
        return result

    told = Told()
    agent = make_agent([calls(*names)], Around("breaks", breaks), told, tool_execution=mode)
    with pytest.raises(PluginError) as raised:
        agent.run_sync("go")
    text = f"the call failed closed: {raised.value}; the tool itself raised ValueError: no"
    assert seen(results(agent)[0]) == (text, True, "error", "PluginError")
    assert [one for one in told.log if one[2] == "c1"] == [("error", "ValueError", "c1"), ("after", "error", "c1")]
    [error] = [one for one in agent.session.trace if isinstance(one, ErrorEvent) and one.kind == "tool"]
    assert (error.source, error.message) == ("bad", text)


@both_modes
@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (calls("nope", ids=["c1"]), "ToolFailedError"),
        (calls("quick", ids=["c1"], n="many"), "ToolFailedError"),
        ({**calls("quick", ids=["c1"]), "stop": "length"}, "ToolFailedError"),
        (calls("bad", ids=["c1"]), "ValueError"),
    ],
)
def test_a_call_that_failed_is_told_with_its_result_s_text(reply: Any, kind: str, mode: Any) -> None:
    said: list[str] = []
    told = Told()
    hears = made("hears", on_error=lambda error: said.append(str(error)))
    agent = make_agent([reply, ANSWER], told, hears, tool_execution=mode)
    agent.run_sync("go")
    [result] = results(agent)
    assert told.log == [("error", kind, "c1"), ("after", result.status, "c1")]
    assert said == [result.content if kind == "ToolFailedError" else "no"]
    [error] = [one for one in agent.session.trace if isinstance(one, ErrorEvent)]
    assert (error.kind, error.source, error.message) == ("tool", agent.transcript[1].calls[0].name, result.content)  # type: ignore[union-attr]


@both_modes
@pytest.mark.parametrize("kinds", [(ValueError, ValueError), (KeyboardInterrupt, ValueError)])
@pytest.mark.parametrize("hooks", [("on_error", "on_error"), ("on_error", "after_each_tool"), ("after_each_tool",) * 2])
def test_of_two_hooks_that_fail_at_a_result_the_first_or_graver_is_raised_and_others_are_told(
    hooks: Any, kinds: Any, mode: Any
) -> None:
    def fails(name: str, hook: str, kind: type[BaseException]) -> Any:
        def told(tool_call: Any) -> None:
            raise kind(f"by {name}")

        return made(name, **{hook: told})

    told = Told()
    plugins = [fails("first", hooks[0], kinds[0]), fails("second", hooks[1], kinds[1]), told]
    agent = make_agent([calls("bad")], *plugins, tool_execution=mode)
    with pytest.raises((PluginError, KeyboardInterrupt), match="by first"):
        asyncio.run(agent.run("go"))
    assert told.log == [("error", "ValueError", "c1"), ("after", "error", "c1")]
    assert results(agent)[0].content == "ValueError: no"


@both_modes
@PAIRS
def test_a_hook_around_a_call_and_one_behind_it_that_fail_both_the_first_reason_is_raised(
    names: Any, mode: Any
) -> None:
    async def breaks(tool_call: Any, call_next: Any) -> Any:
        raise ValueError("around")

    def after(tool_call: Any, result: Any) -> None:
        raise ValueError("behind")

    agent = make_agent(
        [calls(*names)], Around("breaks", breaks), made("after", after_each_tool=after), tool_execution=mode
    )
    with pytest.raises(PluginError) as raised:
        agent.run_sync("go")
    assert (raised.value.plugin, raised.value.hook) == ("breaks", "wrap_tool_call")
    assert isinstance(raised.value.__cause__, ValueError)
    assert results(agent)[0].content == f"the call failed closed: {raised.value}"


@both_modes
@pytest.mark.parametrize("names", [("interrupts",), ("interrupts", "quick")])
def test_an_interrupt_is_raised_though_a_hook_behind_the_call_fails(names: Any, mode: Any) -> None:
    async def interrupts() -> str:
        """Interrupt."""
        raise KeyboardInterrupt

    after = made("after", after_each_tool=lambda tool_call, result: 1 // 0)
    agent = make_agent([calls(*names)], after, tools=[interrupts, quick], tool_execution=mode)
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(agent.run("go"))
    assert results(agent)[0].status == "interrupted"


TIMES: list[int] = []


def once(value: int) -> int:
    """Let a value through the first time."""
    TIMES.append(value)
    if len(TIMES) > 1:
        raise ValueError("only once, " + "please " * 30)
    return value


@pytest.mark.parametrize("limit", [40, 1000])
def test_what_fails_before_the_tool_is_called_is_told_and_bounded(limit: int) -> None:
    TIMES.clear()

    async def look(n: Annotated[int, AfterValidator(once)]) -> str:
        """Look."""
        return f"seen {n}"

    async def twice(tool_call: Any, call_next: Any) -> Any:
        await call_next()
        return await call_next()

    told = Told()
    agent = make_agent(
        [calls("look", n=3), ANSWER], Around("twice", twice), told, tools=[look], tool_result_limit=limit
    )
    agent.run_sync("go")
    [result] = results(agent)
    assert (result.is_error, result.status, result.error_type) == (True, "error", "ArgumentsError")
    assert told.log == [("error", "ArgumentsError", "c1"), ("after", "error", "c1")]
    head, notice, tail = result.content.partition("\n[… ")
    assert result.content.startswith("ArgumentsError: ")
    assert bool(notice) is (limit == 40)
    assert not notice or len(head) + len(tail.partition("…]\n")[2]) == 40
