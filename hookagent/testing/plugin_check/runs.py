"""The reference runs: every way in which hooks are called, with tools that do nothing to anybody.

They are all the paths of the design: no tools, three tools in parallel and in sequence, failing, denied, waiting and
resumed, aborted, a limit, a failing model, streamed or not, more than one turn, synchronous, and the two in which a
plugin's gates are asked outside of its own turns: for the calls of a nested agent, and for those of `call_tool`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from hookagent import Agent, Approve, Deny, Request, Suspend, ToolContext, ToolRound, tool
from hookagent.providers import ScriptedProvider
from hookagent.testing.plugin_check.model import Step

Drive = Callable[[Agent, Sequence[str]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class ReferenceRun:
    """One reference run.

    `turns` is what the model says (see `ReferenceModel`), `prompts` what a person says, `options` are the agent's.
    `gates` are what the last neighbour answers by hook. `ends` are the statuses that it may have (`completed` among
    them where a hook around the model may answer by itself); a plugin may also stop or refuse it, or let it wait.
    `drive` asks the agent; without it, `run_sync` does. `on_wires` says whether it goes over the wire forms, too:
    those that send what no other one sends.
    """

    name: str
    turns: tuple[tuple[Step, ...], ...]
    ends: tuple[str, ...] = ("completed",)
    prompts: tuple[str, ...] = ("Look at the list.",)
    options: Mapping[str, Any] = field(default_factory=dict)
    gates: Mapping[str, Any] = field(default_factory=dict)
    drive: Drive | None = None
    on_wires: bool = True


@tool(effect="reads")
async def reference_look(item: str) -> str:
    """Look at one item of the list.

    Args:
        item: which one.
    """
    await asyncio.sleep(0)
    return f"{item} is there"


@tool(effect="reads")
def reference_count(numbers: list[int]) -> int:
    """Add some numbers up, in a thread.

    Args:
        numbers: what to add.
    """
    return sum(numbers)


@tool(effect="reads")
async def reference_fail(item: str) -> str:
    """Fail, whatever is asked.

    Args:
        item: what is not there.
    """
    raise LookupError(f"{item} is not there")


@tool(effect="reads")
async def reference_abort(context: ToolContext) -> str:
    """Abort the run from within, and never end by itself."""
    context.agent.abort("the reference run is aborted here")
    return str(await asyncio.get_running_loop().create_future())


@tool(effect="reads")
async def reference_ask(question: str) -> str:
    """Ask another agent, which looks at a detail.

    Args:
        question: what to ask.
    """

    def answer(request: Request) -> Step:
        if isinstance(request.blocks[-1], ToolRound):
            return {"text": "It is ripe."}
        return {"calls": [_call(1, NESTED, item="apple")]}

    inner = Agent("inner", tools=[reference_detail], model=ScriptedProvider(answer), log=False, quiet=True)
    async with inner:
        result = await inner.run(question)
    return result.answer or result.status


@tool(effect="reads")
async def reference_detail(item: str) -> str:
    """Look at a detail of one item: the tool of the nested agent.

    Args:
        item: which one.
    """
    return f"{item} is ripe"


TOOLS: Final = (reference_look, reference_count, reference_fail, reference_abort, reference_ask)
NESTED: Final = "reference_detail"
"""The tool that only the nested agent has: of its calls the plugin's gates hear, and no other hook."""


async def ask(agent: Agent, prompts: Sequence[str]) -> None:
    """Ask one prompt after the other, as far as the runs complete."""
    for prompt in prompts:
        if not (await agent.run(prompt)).ok:
            return


async def ask_and_call(agent: Agent, prompts: Sequence[str]) -> None:
    """Ask, and then run a tool without the model."""
    await ask(agent, prompts)
    await agent.call_tool("reference_look", {"item": "cherry"})
    await agent.call_tool("reference_fail", {"item": "fig"})


async def listen(agent: Agent, prompts: Sequence[str]) -> None:
    """Stream the events of each prompt; steer when the first call starts, and follow up once it has ended."""
    said = False
    for prompt in prompts:
        async for event in agent.stream(prompt):
            if event.type == "tool_start" and not said:
                said = True
                agent.steer("Be quick about it.")
                agent.follow_up("And now?")


async def answer_later(agent: Agent, prompts: Sequence[str]) -> None:
    """Ask, and if the session waits then, go on with it: this time somebody answers."""
    for prompt in prompts:
        result = await agent.run(prompt)
        if result.status == "waiting":
            await agent.continue_()


def _call(number: int, name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments, "id": f"call_{number}"}


_ANSWER: Final[Step] = {"text": "That is all there is."}
_ONE: Final[Step] = {"text": "I look.", "calls": [_call(1, "reference_look", item="apple")]}
_THREE: Final[Step] = {
    "text": "I look at all three.",
    "calls": [
        _call(1, "reference_look", item="apple"),
        _call(2, "reference_count", numbers=[1, 2, 3]),
        _call(3, "reference_look", item="pear"),
    ],
}
_AGAIN: Final[Step] = {"calls": [_call(4, "reference_look", item="plum")]}
_FAILING: Final[Step] = {
    "calls": [
        _call(1, "reference_fail", item="fig"),
        _call(2, "reference_unknown", item="fig"),
        _call(3, "reference_count", numbers="no list"),
        {"name": "reference_look", "raw_arguments": '{"item": "fi', "id": "call_4"},
    ]
}
_ASK: Final[Step] = {"calls": [_call(1, "reference_ask", question="Is the apple ripe?")]}
_ABORT: Final[Step] = {"calls": [_call(1, "reference_look", item="apple"), _call(2, "reference_abort")]}


class _AnswersLater:
    """Gives no answer to a question when it is put for the first time, and says yes the second time."""

    def __call__(self, given: Mapping[str, Any]) -> Any:
        session = given["session"]
        return {one.call.id: Approve() for one in given["pending"]} if session.turn > 1 else None


RUNS: Final = (
    ReferenceRun("no tools", ((_ANSWER,),), drive=ask, on_wires=False),
    ReferenceRun("three tools, parallel", ((_THREE, _AGAIN, _ANSWER),), drive=ask),
    ReferenceRun(
        "three tools, sequential",
        ((_THREE, _AGAIN, _ANSWER),),
        options={"tool_execution": "sequential"},
        drive=ask,
        on_wires=False,
    ),
    ReferenceRun("failing, unknown and misread tools", ((_FAILING, _ANSWER),), drive=ask),
    ReferenceRun(
        "denied by another plugin",
        ((_THREE, _ANSWER),),
        gates={"before_each_tool": Deny("the reference run denies every call")},
        drive=ask,
    ),
    ReferenceRun(
        "waiting and resumed",
        ((_ONE, _ANSWER),),
        ends=("completed", "waiting"),
        gates={"before_each_tool": Suspend("somebody has to look at this"), "resolve_suspended": _AnswersLater()},
        drive=answer_later,
    ),
    ReferenceRun("aborted in a tool", ((_ABORT, _ANSWER),), ends=("aborted", "completed"), drive=ask),
    ReferenceRun(
        "the limit of iterations",
        ((_ONE,),),
        ends=("limit", "completed"),
        options={"limits": {"max_iterations": 2}},
        drive=ask,
        on_wires=False,
    ),
    ReferenceRun(
        "a nested agent, and a tool called without the model", ((_ASK, _ANSWER),), drive=ask_and_call, on_wires=False
    ),
    ReferenceRun("the model fails", ((_ONE, {"error": "server"}),), ends=("failed", "completed"), drive=ask),
    ReferenceRun(
        "two turns, streamed, with steering and a follow-up",
        ((_THREE, _ANSWER), (_ANSWER,), (_ANSWER,), (_AGAIN, _ANSWER)),
        prompts=("Look at the list.", "And the plums?"),
        drive=listen,
    ),
    ReferenceRun(
        "two turns, by run_sync",
        ((_THREE, _ANSWER), (_AGAIN, _ANSWER)),
        prompts=("Look at the list.", "And?"),
        on_wires=False,
    ),
)
"""All reference runs; the last one by `run_sync`, in an event loop of hookagent's own."""
