"""Scenarios: an abort in each phase, and a failure in each hook; both families are made from the contract table."""

from __future__ import annotations

import asyncio
from typing import Any

from hookagent import Approve, Suspend
from hookagent.contract import CONTRACTS
from tests.golden.rounds import DONE, answer_all, asking, call, on_call
from tests.golden.stage import Scenario, Stage, StageAct
from tests.golden.witness import call_on

TOUR = [asking(call("look", "c1"), call("fail", "c2", after="c1")), DONE]
"""What reaches every hook: the first of two calls is suspended and approved, the second one fails, then an answer."""
_TOUR_ACTS: dict[str, StageAct] = {
    "before_each_tool": on_call("c1", Suspend("sure?")),
    "resolve_suspended": answer_all(Approve),
}
NO_RUN = ("register_tools", "on_session_end")
"""Hooks that are called while no run is active, so that there is nothing to abort."""


STAYING = [asking(call("look", "c1"), call("look", "c2", after="nobody"))]
"""The same, but that the second call of a parallel round never ends by itself."""


def _tour(name: str, family: str, title: str, happens: str, hook: str, act: StageAct) -> Scenario:
    script = STAYING if hook == "after_each_tool" else TOUR
    return Scenario(name, family, title, happens, script, {**_TOUR_ACTS, hook: act})


def _abort_in(hook: str) -> StageAct:
    async def around(stage: Stage, given: dict[str, Any]) -> Any:
        stage.abort()
        return await call_on(given)

    def plain(stage: Stage, given: dict[str, Any]) -> Any:
        if hook == "on_event" and given["event"].type != "response":
            return None
        stage.abort()
        usual = _TOUR_ACTS.get(hook)
        return usual(stage, given) if usual is not None else None

    return around if CONTRACTS[hook].kinds == ("around",) else plain


def _fail_in(hook: str) -> StageAct:
    def fail(stage: Stage, given: dict[str, Any]) -> Any:
        if hook == "on_event" and given["event"].type != "response":
            return None
        raise ValueError("broken")

    return fail


def _hanging(stage: Stage) -> Any:
    """A step that says a piece, is aborted, and waits for ever."""

    async def step(request: Any) -> Any:
        stage.abort()
        await asyncio.Event().wait()

    return step


REACHING_ALL = Scenario(
    "reaching-all", "Gates", "One suspended and approved, one failing",
    "This round reaches every hook. The aborts and the failing hooks below happen in it.", TOUR, _TOUR_ACTS,
)  # fmt: skip

_ABORTED = {
    "on_event": "The event is the [response] of the first reply.",
    "after_each_tool": "The second call of a parallel round runs meanwhile, and would not end by itself.",
}

ABORTS = (
    *(
        _tour(
            f"abort-in-{hook}", "Aborts", f"Aborted in {hook}",
            _ABORTED.get(hook, "The run is aborted while the hook runs, each time that it is called."),
            hook, _abort_in(hook),
        )
        for hook in CONTRACTS if hook not in NO_RUN
    ),
    Scenario("abort-in-the-stream", "Aborts", "Aborted while the model answers",
             "The model is cancelled; there is no half reply.", lambda stage: [_hanging(stage)]),
    Scenario(
        "abort-in-a-tool", "Aborts", "Aborted while a tool runs",
        "It is cancelled. A sibling that has ended keeps its result; one that runs is cancelled too, and in a "
        "sequential round the call behind it does not begin.",
        [asking(call("look", "c1"), call("abort", "c2", after="c1"), call("look", "c3", after="nobody")), DONE],
    ),
    Scenario(
        "abort-of-a-deaf-tool", "Aborts", "Aborted while a tool runs that does not listen",
        "It is left behind after the grace time, with a result that says so.",
        [asking(call("abort", heeds=False)), DONE],
    ),
)  # fmt: skip

FAILURES = tuple(
    _tour(
        f"failing-{hook}", "Failing hooks", f"{hook} fails",
        "The plugin behind the witness raises there" + (", at each [response]." if hook == "on_event" else "."),
        hook, _fail_in(hook),
    )
    for hook in CONTRACTS
)  # fmt: skip
