"""What turns say of themselves, to the letter: their events, what is theirs alone, what plugins made of a reply."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from hookagent import Agent, PluginError, Replace, Stop, Suspend, UserMessage
from hookagent.events import AgentEnd, AgentStart, IterationStart, MessageReplaced, TurnEnd, TurnStart
from hookagent.providers.scripted import ScriptedProvider
from tests.core.plugin_making import made
from tests.core.scripts import calls, make_agent, words

ANSWER = {"text": "done"}


def told(agent: Agent, *kinds: type[Any]) -> list[Any]:
    return [event for event in agent.session.trace if type(event) in kinds]


def used(tokens: int, text: str) -> dict[str, Any]:
    return {"text": text, "usage": {"input_tokens": tokens}}


# ---- events, and what is a turn's own ----


def test_turns_of_one_run_say_how_they_began_and_ended_and_what_each_used() -> None:
    queued = ["more"]
    outcomes: list[tuple[str, int, int]] = []

    def on_complete(outcome: Any, agent: Agent) -> None:
        outcomes.append((outcome.answer, outcome.turn, outcome.usage.input_tokens))
        while queued:
            agent.follow_up(queued.pop())

    agent = make_agent([used(1, "one"), used(2, "two")], made("queues", on_complete=on_complete))
    result = agent.run_sync("go")
    provider = agent.provider
    model = f"{provider.name}:{provider.model}" if provider.model else provider.name
    events = told(agent, AgentStart, AgentEnd, TurnStart, TurnEnd, IterationStart)
    assert [(event.turn, event.iteration, *event[4:-1]) for event in events] == [
        (0, 0, "tested"),
        (1, 0),
        (1, 1),
        (1, 1, "completed", "one"),
        (2, 0),
        (2, 1),
        (2, 1, "completed", "two"),
        (2, 1, "completed", "two"),
    ]
    assert [event[-1] for event in events[:3]] == [model, "go", 10]
    assert events[4].prompt == "more"
    assert [events[place].usage.input_tokens for place in (3, 6, 7)] == [1, 2, 3]
    assert outcomes == [("one", 1, 1), ("two", 2, 2)]
    assert (result.usage.input_tokens, result.iterations, result.answer) == (3, 2, "two")


def test_who_listens_hears_all_that_the_trace_keeps() -> None:
    heard: list[Any] = []
    agent = make_agent([calls("quick"), ANSWER], limits={"max_iterations": 7})
    agent.subscribe(heard.append)
    agent.run_sync("go")
    assert [event for event in heard if event.type != "message_delta"] == list(agent.session.trace)
    assert [event.maximum for event in heard if event.type == "iteration_start"] == [7, 7]


def test_a_reply_with_nothing_in_it_is_a_failure_of_the_model() -> None:
    result = make_agent([{"text": " "}]).run_sync("go")
    assert (result.status, result.reason) == ("failed", "the model gave an empty reply; stop reason: end")
    assert words(result.session.transcript) == ["U go"]


def test_what_is_added_to_a_reply_with_calls_is_held_behind_their_results() -> None:
    plugin = made("adds", after_llm=lambda response: "note" if response.tool_calls else None)
    result = make_agent([calls("quick"), ANSWER], plugin).run_sync("go")
    assert words(result.session.transcript) == ["U go", "A c1", "R c1 ok", "U note <adds>", "A done"]


@pytest.mark.parametrize(("model", "said"), [("", "own"), ("fast", "own:fast")])
def test_a_run_says_which_model_it_asks(model: str, said: str) -> None:
    class Own(ScriptedProvider):
        name = "own"

    provider = Own([ANSWER])
    provider.model = model
    agent = Agent("named", model=provider)
    agent.run_sync("go")
    [start] = told(agent, AgentStart)
    assert (start.agent, start.model) == ("named", said)


def test_a_turn_without_a_prompt_says_none_and_keeps_the_one_before() -> None:
    shown: list[str] = []
    plugin = made("notes", before_llm=lambda session: shown.append(session.user_prompt))
    agent = make_agent([{"error": "authentication"}, ANSWER], plugin)
    agent.run_sync(["first", "second"])
    assert asyncio.run(agent.continue_()).answer == "done"
    assert [event.prompt for event in told(agent, TurnStart)] == ["first", ""]
    assert shown == ["second", "second"]


def test_a_session_begins_once_and_already_knows_the_prompt() -> None:
    began: list[tuple[str, str]] = []

    def beginning(name: str) -> Any:
        return made(name, on_session_start=lambda session: began.append((name, session.user_prompt)))

    agent = make_agent([ANSWER, ANSWER], beginning("one"), beginning("two"))
    agent.run_sync(["go", "on"])
    agent.run_sync("again")
    assert began == [("one", "go"), ("two", "go")]


def test_a_turn_that_fails_before_anything_came_in_gives_all_of_it_back() -> None:
    def fails() -> None:
        raise ValueError("no")

    agent = make_agent([ANSWER], made("fails", on_session_start=fails))
    agent.steer("left")
    with pytest.raises(PluginError):
        agent.run_sync(["one", "two"])
    assert agent.last_result is not None
    assert [one.text for one in agent.last_result.not_stored] == ["one", "two"]
    assert [one.text for one in agent.steering.peek()] == ["left"]
    assert words(agent.transcript) == []


def test_a_plugin_may_go_on_as_often_in_the_next_turn_of_the_same_run() -> None:
    queued = ["again"]
    asked: list[int] = []

    def before_complete(session: Any) -> str:
        asked.append(session.turn)
        return "more"

    def on_complete(agent: Agent) -> None:
        while queued:
            agent.follow_up(queued.pop())

    plugin = made("more", before_complete=before_complete, on_complete=on_complete)
    result = make_agent([f"answer {number}" for number in range(1, 9)], plugin).run_sync("go")
    assert (result.status, result.answer) == ("completed", "answer 8")
    assert asked == [1] * 4 + [2] * 4


def test_an_abort_while_the_end_is_announced_lets_no_other_turn_begin() -> None:
    def on_complete(agent: Agent) -> None:
        agent.follow_up("more")
        agent.abort("enough")

    agent = make_agent([ANSWER, ANSWER], made("aborts", on_complete=on_complete))
    assert agent.run_sync("go").answer == "done"
    assert words(agent.transcript) == ["U go", "A done"]
    assert [one.text for one in agent.follow_ups.peek()] == ["more"]


def test_what_is_said_to_a_session_that_waits_is_held_until_the_call_is_answered() -> None:
    gate = made("asks", before_each_tool=lambda tool_call: Suspend("?"))
    agent = make_agent([calls("quick"), ANSWER], gate)
    assert agent.run_sync("go").status == "waiting"
    result = agent.run_sync(["hurry", "please"])
    assert (result.status, result.reason) == ("waiting", "waiting for an answer to: quick (c1)")
    assert [one.text for one in agent.transcript.held] == ["hurry", "please"]
    assert result.not_stored == ()


def test_a_run_that_never_waits_lets_others_have_their_turn_again_and_again() -> None:
    def before_llm(session: Any, agent: Agent) -> None:
        if session.iteration == 150:
            asyncio.get_running_loop().call_soon(agent.abort, "enough")

    script = [calls("quick", ids=[f"r{number}"]) for number in range(300)]
    agent = make_agent([*script, ANSWER], made("aborts", before_llm=before_llm), limits={"max_iterations": None})
    result = agent.run_sync("go")
    assert (result.status, result.reason) == ("aborted", "enough")
    assert result.iterations == 200  # every hundred rounds, since it costs


# ---- before and after the model ----


@pytest.mark.parametrize("is_async", [False, True], ids=["plain", "async"])
def test_what_plugins_add_before_the_model_stands_in_call_order_up_to_the_one_that_stops(is_async: bool) -> None:
    said: dict[str, Any] = {"a": "note a", "b": None, "c": ["note c"], "d": [Stop("enough"), "note d"], "e": "never"}

    def saying(name: str) -> Any:
        async def later() -> Any:
            return said[name]

        return made(name, before_llm=later if is_async else lambda: said[name])

    plugins = [saying(name) for name in said]
    result = make_agent([ANSWER], *plugins).run_sync("go")
    assert (result.status, result.reason) == ("stopped", "'d' stopped the run: enough")
    assert words(result.session.transcript) == ["U go", "U note a <a>", "U note c <c>", "U note d <d>"]


def replacing(name: str, text: str | None, *messages: str) -> Any:
    def after_llm(response: Any) -> Any:
        return [*([] if text is None else [Replace(response.changed(text=text))]), *messages]

    return made(name, after_llm=after_llm)


def test_each_plugin_sees_the_reply_as_the_one_before_left_it_and_a_change_is_announced_by_whose_it_is() -> None:
    seen: list[str] = []

    async def silent() -> None:
        return None

    plugins = [
        replacing("same", "one"),
        made("silent", after_llm=silent),
        replacing("first", "two", "from first"),
        made("notes", after_llm=lambda response: seen.append(response.text)),
        replacing("adds", None, "from adds"),
        replacing("second", "three", "from second"),
    ]
    agent = make_agent([{"text": "one"}], *plugins)
    result = agent.run_sync("go")
    assert (result.status, result.answer) == ("completed", "three")
    assert seen == ["two"]
    assert [one.reason for one in told(agent, MessageReplaced)] == ["replaced by 'first'", "replaced by 'second'"]
    added = ["U from first <first>", "U from adds <adds>", "U from second <second>"]
    assert words(agent.transcript) == ["U go", "A three", *added]


@pytest.mark.parametrize("fault", [ValueError("no"), KeyboardInterrupt()], ids=["failed", "interrupted"])
def test_when_a_plugin_fails_the_reply_is_stored_as_it_was_before_and_its_calls_are_closed(fault: Any) -> None:
    def fails() -> None:
        raise fault

    agent = make_agent([calls("quick"), ANSWER], replacing("first", "changed", "note"), made("bad", after_llm=fails))
    with pytest.raises((PluginError, KeyboardInterrupt)):
        agent.run_sync("go")
    assert words(agent.transcript) == ["U go", "A c1 changed", "R c1 not_run"]


def test_a_reply_that_was_cut_stays_cut_whatever_it_is_replaced_by() -> None:
    def after_llm(response: Any) -> Any:
        return Replace(replace(response.changed(text="whole"), stop_reason="tool_calls"))

    agent = make_agent([{**calls("quick"), "stop": "length"}, ANSWER], made("mends", after_llm=after_llm))
    agent.run_sync("go")
    assert words(agent.transcript)[:3] == ["U go", "A c1 whole", "R c1 not_run"]


def test_an_abort_after_the_reply_keeps_it_out() -> None:
    plugin = made("aborts", after_llm=lambda agent: agent.abort("enough"))
    result = make_agent([ANSWER], plugin).run_sync([UserMessage("go")])
    assert (result.status, result.reason) == ("aborted", "enough")
    assert words(result.session.transcript) == ["U go"]
