"""What comes of a reply: stored, empty, cut or stopped, with ids of its own; and how hooks make the turn go on."""

from __future__ import annotations

import re
from typing import Any

import pytest

from hookagent import PluginError, Replace, hookimpl
from hookagent.events import ErrorEvent, MessageEnd, ToolStart
from hookagent.frozen import FrozenDict
from hookagent.messages import AssistantMessage, ToolCall
from hookagent.transcript import ToolRound
from tests.core.plugin_making import made
from tests.core.scripts import calls, make_agent, words
from tests.core.verdict_tables import both_modes

ANSWER = {"text": "done"}


def results(agent: Any) -> list[Any]:
    return [one for block in agent.transcript if isinstance(block, ToolRound) for one in block.results]


def started(agent: Any) -> list[str]:
    return [one.call.id for one in agent.session.trace if isinstance(one, ToolStart)]


def replies(agent: Any) -> list[AssistantMessage]:
    heard = [one.message for one in agent.session.trace if isinstance(one, MessageEnd)]
    return [one for one in heard if isinstance(one, AssistantMessage)]


class Errors:
    """A plugin that writes down what `on_error` is told."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.told: list[tuple[str, str, Any]] = []

    @hookimpl
    def on_error(self, error: Any, tool_call: Any) -> None:
        self.told.append((type(error).__name__, str(error), tool_call))


# ---- replies that end the turn, or do not ----


@pytest.mark.parametrize("adds", [False, True])
@pytest.mark.parametrize(
    ("reply", "status", "reason", "limit"),
    [
        ({"stop": "end"}, "completed", "", None),
        ({"stop": "stop_sequence"}, "completed", "", None),
        (
            {"stop": "length"},
            "limit",
            "the answer was cut by the output limit; raise model_settings.max_output_tokens",
            "model_settings.max_output_tokens",
        ),
        ({"stop": "filtered"}, "failed", "the model stopped (filtered)", None),
        ({"stop": "refusal", "stop_detail": "not nice"}, "failed", "the model stopped (refusal: not nice)", None),
        ({"stop": "too_long"}, "failed", "the model stopped (too_long)", None),
    ],
)
def test_an_answer_ends_the_turn_as_its_stop_reason_says(
    reply: Any, status: str, reason: str, limit: str | None, adds: bool
) -> None:
    asked: list[str] = []
    sees = made("sees", before_complete=lambda answer: asked.append(answer))
    plugins = [made("adds", after_llm=lambda response: "noted")] if adds else []
    agent = make_agent([{"text": "so far", **reply}], sees, *plugins)
    result = agent.run_sync("go")
    assert (result.status, result.reason, result.limit, result.answer) == (status, reason, limit, "so far")
    assert asked == (["so far"] if status == "completed" else [])
    assert words(agent.transcript) == ["U go", "A so far", *(["U noted <adds>"] if adds else [])]


@pytest.mark.parametrize("text", ["wait", ""])
def test_a_reply_that_pauses_is_followed_by_another_request_even_an_empty_one(text: str) -> None:
    asked: list[str] = []
    sees = made("sees", before_complete=lambda answer: asked.append(answer))
    agent = make_agent([{"text": text, "stop": "pause"}, ANSWER], sees)
    result = agent.run_sync("go")
    assert (result.answer, result.iterations, asked) == ("done", 2, ["done"])
    assert words(agent.transcript) == ["U go", f"A {text}", "A done"]


@pytest.mark.parametrize("text", ["", " \n"])
@pytest.mark.parametrize(
    ("stop", "detail", "reason"),
    [
        ("end", "", "the model gave an empty reply; stop reason: end"),
        ("refusal", "not nice", "the model gave an empty reply; stop reason: refusal (not nice)"),
        ("length", "", "the model gave an empty reply; stop reason: length"),
    ],
)
def test_an_empty_reply_is_an_error_of_the_model_that_is_told_and_not_stored(
    stop: Any, detail: str, reason: str, text: str
) -> None:
    first, second = Errors("first"), Errors("second")
    agent = make_agent([{"text": text, "stop": stop, "stop_detail": detail}], first, second)
    result = agent.run_sync("go")
    assert (result.status, result.reason, result.answer) == ("failed", reason, "")
    assert words(agent.transcript) == ["U go"]
    assert first.told == second.told == [("RuntimeError", reason, None)]
    [error] = [one for one in agent.session.trace if isinstance(one, ErrorEvent)]
    assert (error.kind, error.source, error.message) == ("model", "scripted", reason)
    assert replies(agent) == []


@both_modes
@pytest.mark.parametrize("names", [("quick",), ("quick", "ok")])
@pytest.mark.parametrize("stop", ["length", "refusal"])
def test_calls_of_a_cut_reply_do_not_run_though_a_message_was_added_to_it(stop: str, names: Any, mode: Any) -> None:
    adds = made("adds", after_llm=lambda response: "noted" if response.tool_calls else None)
    agent = make_agent([{**calls(*names), "stop": stop}, ANSWER], adds, tool_execution=mode)
    agent.run_sync("go")
    assert started(agent) == []
    assert {(one.status, one.error_type) for one in results(agent)} == {("not_run", "CutReply")}
    assert words(agent.transcript)[-2:] == ["U noted <adds>", "A done"]


@pytest.mark.parametrize("reply", [{"text": "an answer"}, calls("quick"), calls("quick", "ok")])
def test_when_a_listening_hook_failed_at_a_reply_it_is_stored_and_nothing_comes_of_it(reply: Any) -> None:
    def hear(event: Any) -> None:
        if event.type == "message_end" and isinstance(event.message, AssistantMessage):
            raise ValueError("cannot listen")

    asked: list[Any] = []
    sees = made(
        "sees",
        before_complete=lambda answer: asked.append(answer),
        before_each_tool=lambda tool_call: asked.append(tool_call),
    )
    agent = make_agent([reply], made("hears", on_event=hear), sees)
    with pytest.raises(PluginError, match="cannot listen") as raised:
        agent.run_sync("go")
    assert asked == []
    assert started(agent) == []
    assert len(replies(agent)) == 1
    assert {one.content for one in results(agent)} <= {f"not run: {raised.value}"}
    assert agent.transcript.open_round is None


# ---- hooks that let the turn go on ----


def test_every_hook_sees_the_answer_and_may_add_to_it() -> None:
    seen: list[tuple[str, str]] = []

    def of(name: str, *returned: Any) -> Any:
        given = list(returned)

        def before_complete(answer: str) -> Any:
            seen.append((name, answer))
            return given.pop(0) if given else None

        return made(name, before_complete=before_complete)

    plugins = [of("silent"), of("first", "more", []), of("second", ["and more", "still more"]), of("third", [], "last")]
    agent = make_agent([{"text": f"answer {number}"} for number in (1, 2, 3)], *plugins)
    result = agent.run_sync("go")
    assert (result.status, result.answer, result.iterations) == ("completed", "answer 3", 3)
    assert seen == [(name, f"answer {n}") for n in (1, 2, 3) for name in ("silent", "first", "second", "third")]
    assert words(agent.transcript) == [
        "U go",
        "A answer 1",
        "U more <first>",
        "U and more <second>",
        "U still more <second>",
        "A answer 2",
        "U last <third>",
        "A answer 3",
    ]


def test_a_hook_that_asks_to_go_on_too_often_is_named_and_those_behind_it_are_heard() -> None:
    heard: list[str] = []

    def count(answer: str) -> Any:
        heard.append(answer)
        return "once more" if len(heard) == 5 else None

    greedy = made("greedy", before_complete=lambda answer: "more")
    agent = make_agent(
        [{"text": f"answer {number}"} for number in range(1, 8)], greedy, made("behind", before_complete=count)
    )
    result = agent.run_sync("go")
    assert (result.status, result.answer) == ("completed", "answer 4")
    errors = [one for one in agent.session.trace if isinstance(one, ErrorEvent)]
    assert [(one.kind, one.source, one.message) for one in errors] == [
        ("plugin", "greedy", "asked to go on more than 3 times in this turn; the turn ends")
    ]
    assert heard == [f"answer {number}" for number in (1, 2, 3, 4)]
    result = agent.run_sync("again")  # the next turn has as many of its own; the other hook goes on once in it
    assert (result.status, result.answer) == ("failed", "")
    assert heard[4:] == ["answer 5", "answer 6", "answer 7"]


def test_a_hook_behind_one_that_may_not_go_on_any_more_still_may() -> None:
    heard: list[str] = []

    def late(answer: str) -> Any:
        heard.append(answer)
        return "for me too" if len(heard) == 4 else None

    greedy = made("greedy", before_complete=lambda answer: "more")
    agent = make_agent(
        [{"text": f"answer {number}"} for number in range(1, 8)], greedy, made("late", before_complete=late)
    )
    assert agent.run_sync("go").answer == "answer 5"
    assert words(agent.transcript)[-2:] == ["U for me too <late>", "A answer 5"]


def test_an_abort_by_a_hook_at_the_end_wins_over_what_it_returns() -> None:
    def abort(answer: str) -> str:
        agent.abort("enough")
        return "more"

    agent = make_agent([ANSWER, ANSWER], made("aborts", before_complete=abort))
    agent.follow_up("later")
    result = agent.run_sync("go")
    assert (result.status, result.reason) == ("aborted", "enough")
    assert words(agent.transcript) == ["U go", "A done"]
    assert [one.text for one in agent.follow_ups.peek()] == ["later"]


def test_what_was_steered_comes_before_the_hooks_and_a_follow_up_behind_them() -> None:
    order: list[str] = []

    def more(answer: str) -> Any:
        order.append(answer)
        return "more" if answer == "two" else None

    def steer(iteration: int) -> None:
        if iteration == 1:
            agent.steer("steered")
            agent.follow_up("followed")

    agent = make_agent(
        [{"text": text} for text in ("one", "two", "three", "four")],
        made("more", before_complete=more, before_llm=steer),
    )
    assert agent.run_sync("go").answer == "four"
    assert order == ["two", "three", "four"]
    assert words(agent.transcript) == [
        "U go",
        "A one",
        "U steered",
        "A two",
        "U more <more>",
        "A three",
        "U followed",
        "A four",
    ]


# ---- ids ----


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ([["a"], ["b", "c"]], ["a", "b", "c"]),
        ([["a"], ["a"]], ["a", "*"]),
        ([["a"], ["b", "a"]], ["a", "b", "*"]),
        ([["a", "b"], ["b"], ["c"]], ["a", "b", "*", "c"]),
        ([["a", "a"], ["b"]], ["a", "*", "b"]),
        ([[""], ["b", ""]], ["*", "b", "*"]),
    ],
)
def test_ids_are_kept_where_they_can_be_and_never_given_twice(sent: Any, expected: list[str]) -> None:
    def give(response: AssistantMessage) -> Any:
        if not response.tool_calls:
            return None
        ids = left.pop(0)
        return Replace(response.changed(tool_calls=[ToolCall(one, "quick", FrozenDict({"n": 3})) for one in ids]))

    left = list(sent)
    agent = make_agent([*[calls("ok")] * len(sent), ANSWER], made("gives", after_llm=give))
    assert agent.run_sync("go").ok
    stored = [one.id for reply in replies(agent) for one in reply.tool_calls]
    assert len(set(stored)) == len(stored) == len(expected)
    for got, wanted in zip(stored, expected, strict=True):
        assert got == wanted or (wanted == "*" and re.fullmatch("call_[0-9a-f]{24}", got))
    assert [(one.call_id, one.content) for one in results(agent)] == [(one, "quick 3") for one in stored]


def test_text_beside_calls_is_stored_with_them() -> None:
    agent = make_agent([{**calls("quick", "ok"), "text": "let me see"}, calls("ok", ids=["c1"]), ANSWER])
    agent.run_sync("go")
    first, second, _ = replies(agent)
    assert (first.text, [one.id for one in first.tool_calls]) == ("let me see", ["c1", "c2"])
    assert second.tool_calls[0].id not in ("c1", "c2")
    assert [block.reply for block in agent.transcript if isinstance(block, ToolRound)] == [first, second]
