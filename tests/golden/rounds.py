"""Scenarios: tool rounds, replies, and what gates and answers make of a round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hookagent import Amend, Approve, Deny, Replace, Stop, Suspend
from tests.core.scripts import calls
from tests.golden.stage import Scenario, StageAct

DONE = {"text": "done"}


def call(name: str, call_id: str = "c1", **arguments: Any) -> dict[str, Any]:
    """One call of a scripted reply."""
    return {"name": name, "id": call_id, "arguments": arguments}


def asking(*made: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A scripted reply with these calls."""
    return {"calls": list(made), **more}


def on_call(call_id: str, verdict: Any) -> StageAct:
    """A gate that has a verdict for one call."""
    return lambda stage, given: verdict if given["tool_call"].id == call_id else None


def always(value: Any) -> StageAct:
    """A hook that always returns the same."""
    return lambda stage, given: value


def answer_all(answer: Callable[[], Any]) -> StageAct:
    """Answer for all suspended calls in the same way."""
    return lambda stage, given: {one.call.id: answer() for one in given["pending"]}


def _from_second_run(answer: Any) -> StageAct:
    return lambda stage, given: {one.call.id: answer for one in given["pending"]} if given["session"].turn > 1 else None


LOOK = [calls("look"), DONE]
TWO = [asking(call("look", "c1"), call("look", "c2", n=2, after="c1")), DONE]

ROUNDS = (
    Scenario("no-tools", "Rounds", "No tools", "The model answers at once.", [DONE]),
    Scenario("one-tool", "Rounds", "One tool", "The model asks for one tool, then answers.", LOOK),
    Scenario(
        "three-tools", "Rounds", "Three tools in one round",
        "In a parallel round all three begin at once and end last first: `after_each_tool` comes as each ends, the "
        "results stand in call order. In a sequential round each call goes all its way before the next.",
        [asking(call("look", "c1", after="c2"), call("look", "c2", after="c3"), call("look", "c3")), DONE],
    ),
    Scenario("two-rounds", "Rounds", "Two rounds", "The model asks for a tool, for another one, and answers.",
             [calls("look"), calls("look", ids=["c2"]), DONE]),
    Scenario(
        "plain-tool", "Rounds", "A plain tool that reports progress",
        "The tool is written with `def`, runs in a thread, and says how far it is.", [calls("read"), DONE],
    ),
    Scenario("nested-agent", "Rounds", "A tool that asks another agent",
             "The inner agent has no plugins; what happens in it is told outside as [nested].", [calls("ask"), DONE]),
    Scenario("failing-tool", "Rounds", "A failing tool", "The tool raises; the model is told, and answers.",
             [calls("fail"), DONE]),
    Scenario("overrunning-tool", "Rounds", "A tool that overruns its time limit",
             "The tool does not end in its 30 seconds.", [calls("overrun"), DONE]),
    Scenario("unknown-tool", "Rounds", "An unknown tool", "There is no tool of the name that the model asks for.",
             [calls("nothing"), DONE]),
    Scenario("bad-arguments", "Rounds", "Arguments that do not fit", "The model sends a text where a number goes.",
             [calls("look", n="many"), DONE]),
    Scenario(
        "unreadable-arguments", "Rounds", "Arguments that cannot be read", "What the model sends is no JSON.",
        [{"calls": [{"name": "look", "raw_arguments": '{"n": ', "id": "c1"}]}, DONE],
    ),
    Scenario(
        "cut-reply", "Rounds", "A reply with calls, cut by the output limit",
        "None of its calls runs; the model is told.", [asking(call("look"), stop="length"), DONE],
    ),
    Scenario("cut-answer", "Rounds", "An answer cut by the output limit", "The turn ends with the status `limit`.",
             [{"text": "half", "stop": "length"}]),
    Scenario("paused-reply", "Rounds", "A paused reply", "The vendor wants the same content back, and goes on.",
             [{"text": "thinking", "stop": "pause"}, DONE]),
    Scenario("changed-reply", "Rounds", "A reply that a plugin changes", "`after_llm` returns another text.",
             [DONE], {"after_llm": lambda stage, given: Replace(given["response"].changed(text="better"))}),
    Scenario(
        "changed-result", "Rounds", "A result that a plugin takes for an error",
        "`after_each_tool` returns the result as an error; the tool did not raise, so that `on_error` is not told.",
        LOOK, {"after_each_tool": lambda stage, given: replace(given["result"], is_error=True)},
    ),
    Scenario(
        "held-messages", "Rounds", "Messages that are held",
        "`after_llm` and `before_tools` add messages while calls wait for results: they land behind the round.",
        [asking(call("look"), text="I look."), DONE],
        {
            "after_llm": lambda stage, given: "from after_llm" if given["response"].tool_calls else None,
            "before_tools": always("from before_tools"),
            "after_tools": always("from after_tools"),
        },
    ),
)  # fmt: skip


GATES = (
    Scenario("denied", "Gates", "A denied call among two", "`before_each_tool` denies the second call.",
             TWO, {"before_each_tool": on_call("c2", Deny("no"))}),
    Scenario("denied-round", "Gates", "A denied round", "`before_tools` denies all calls of the round.",
             TWO, {"before_tools": always(Deny("no"))}),
    Scenario("denied-unanswered", "Gates", "A call that nobody could be asked for",
             "`before_each_tool` denies it as unanswered: the run is `refused`, whatever the model answers then.",
             LOOK, {"before_each_tool": always(Deny("nobody is there", unanswered=True))}),
    Scenario(
        "amended", "Gates", "An amended call",
        "`before_each_tool` changes the arguments of the first of two calls; all gates but that one are asked again.",
        TWO, {"before_each_tool": on_call("c1", Amend({"n": 7}))},
    ),
    Scenario(
        "amended-in-before-tools", "Gates", "A call amended in before_tools",
        "`before_tools` changes the arguments of one call before `before_each_tool` is asked.",
        LOOK, {"before_tools": lambda stage, given: {"c1": Amend({"n": 7})}},
    ),
    Scenario("amended-badly", "Gates", "An amendment that does not fit", "The new arguments are refused by the tool: "
             "the gate failed, the call does not run, and the run stops.",
             LOOK, {"before_each_tool": always(Amend({"n": "many"}))}),
    Scenario("repaired", "Gates", "Bad arguments that a gate repairs", "An amendment makes them fit.",
             [calls("look", n="many"), DONE], {"before_each_tool": on_call("c1", Amend({"n": 7}))}),
    Scenario(
        "suspended-approved", "Gates", "Suspended and approved at once",
        "Both calls are suspended; `resolve_suspended` says yes. In a sequential round it is asked for each call.",
        TWO, {"before_each_tool": always(Suspend("sure?")), "resolve_suspended": answer_all(Approve)},
    ),
    Scenario("suspended-denied", "Gates", "Suspended and denied", "`resolve_suspended` says no.", LOOK,
             {"before_each_tool": always(Suspend("sure?")), "resolve_suspended": answer_all(lambda: Deny("no"))}),
    Scenario(
        "suspended-edited", "Gates", "Suspended and edited",
        "`resolve_suspended` changes the arguments: all gates are asked about them, also the one that suspended.", LOOK,
        {"before_each_tool": always(Suspend("sure?")), "resolve_suspended": answer_all(lambda: Amend({"n": 7}))},
    ),
    Scenario("suspended-stopped", "Gates", "Suspended, and the person quits",
             "`resolve_suspended` stops the run, which is `refused`.", LOOK,
             {"before_each_tool": always(Suspend("sure?")), "resolve_suspended": answer_all(lambda: Stop("quit"))}),
    Scenario(
        "round-suspended", "Gates", "A round suspended as a whole",
        "`before_tools` suspends both calls. In a sequential round this is resolved before the first call's own gates.",
        TWO, {"before_tools": always(Suspend("sure?")), "resolve_suspended": answer_all(Approve)},
    ),
    Scenario(
        "suspended-resumed", "Gates", "Suspended, and resumed in a second run",
        "Nobody answers, the session waits. In a parallel round the allowed sibling runs all the same. `run(...)` puts "
        "the open call to `resolve_suspended` again, which now says yes; then comes the prompt.",
        [asking(call("look", "c1"), call("look", "c2")), DONE],
        {"before_each_tool": on_call("c1", Suspend("sure?")), "resolve_suspended": _from_second_run(Approve())},
        ("go", "and?"),
    ),
    Scenario(
        "suspended-continued", "Gates", "Suspended, and continued without a prompt",
        "As before, with `continue_()`: the second turn has no prompt.",
        [asking(call("look", "c1"), call("look", "c2")), DONE],
        {"before_each_tool": on_call("c1", Suspend("sure?")), "resolve_suspended": _from_second_run(Approve())},
        ("go", None),
    ),
    Scenario(
        "suspended-still", "Gates", "Suspended, and still unanswered",
        "Nobody answers in the second run either: its prompt is held behind the round, and the session waits on.",
        LOOK[:1], {"before_each_tool": always(Suspend("sure?"))}, ("go", "and?"),
    ),
    Scenario("stopped-after-user-input", "Gates", "Stopped in after_user_input", "The prompt is not stored.", [],
             {"after_user_input": always(Stop("no"))}),
    Scenario("stopped-before-llm", "Gates", "Stopped in before_llm", "No request is sent.", [],
             {"before_llm": always(Stop("no"))}),
    Scenario("stopped-before-tools", "Gates", "Stopped in before_tools", "No gate of a call is asked, none runs.",
             TWO[:1], {"before_tools": always(Stop("no"))}),
    Scenario("stopped-before-each-tool", "Gates", "Stopped in before_each_tool",
             "The gates stop at the first call: the second one is not asked about, and none runs.",
             TWO[:1], {"before_each_tool": on_call("c1", Stop("no"))}),
    Scenario("stopped-after-tools", "Gates", "Stopped in after_tools", "The model is not asked again.",
             LOOK[:1], {"after_tools": always(Stop("enough"))}),
)  # fmt: skip
