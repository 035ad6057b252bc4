"""Turns to the letter: a last answer at a limit, and what a queue that was emptied leaves to be done."""

from __future__ import annotations

import asyncio
from typing import Any

from hookagent import Agent, Replace, ToolResult
from hookagent.providers.scripted import ScriptedProvider
from hookagent.requests import Request
from tests.core.plugin_making import made
from tests.core.scripts import calls, make_agent, ok, words

ANSWER = {"text": "done"}
CLOSING = {"max_iterations": 1, "closing_answer": True}
AT_LIMIT = "stopped after 1 iteration: the limit max_iterations is 1"


# ---- the last answer at a limit ----


def test_calls_in_a_last_answer_are_told_why_they_do_not_run() -> None:
    last = {**calls("ok", ids=["late"]), "text": "half"}
    agent = make_agent([calls("ok"), last], limits=CLOSING)
    assert agent.run_sync("go").answer == "half"
    [result] = [one for one in agent.transcript.messages() if isinstance(one, ToolResult)][1:]
    assert (result.status, result.content) == ("not_run", "not run: tools are switched off, since a limit was reached")


def test_a_last_answer_of_calls_alone_leaves_the_programs_own_words() -> None:
    agent = make_agent([calls("ok"), calls("ok", ids=["late"])], limits=CLOSING)
    assert agent.run_sync("go").answer == AT_LIMIT
    assert words(agent.transcript)[-2:] == ["A late", "R late not_run"]


def test_a_last_answer_goes_past_after_llm_with_its_request_and_what_is_added_stands_behind_it() -> None:
    seen: list[tuple[int, str, str]] = []

    def after_llm(request: Any, response: Any, session: Any) -> Any:
        seen.append((session.iteration, request.tool_choice, response.text))
        return [Replace(response.changed(text="better")), "a note"] if request.tool_choice == "none" else None

    agent = make_agent([calls("ok"), {"text": "half"}], made("edits", after_llm=after_llm), limits=CLOSING)
    result = agent.run_sync("go")
    assert (result.status, result.answer, result.iterations) == ("limit", "better", 1)
    assert seen == [(1, "auto", ""), (2, "none", "half")]
    assert words(agent.transcript)[-2:] == ["A better", "U a note <edits>"]


def test_an_abort_while_the_last_answer_is_asked_for_is_what_ends_the_run() -> None:
    agent: Agent

    def answer(request: Request) -> Any:
        if request.tool_choice == "none":
            agent.abort("enough")
        return {"text": "half"} if request.tool_choice == "none" else calls("ok")

    agent = Agent("tested", tools=[ok], model=ScriptedProvider(answer), limits=CLOSING)
    result = agent.run_sync("go")
    assert (result.status, result.reason, result.limit) == ("aborted", "enough", None)
    assert words(agent.transcript)[-1] == "R c1 ok"


# ---- queues that were emptied ----


def emptying(messages: list[str]) -> Any:
    """A plugin that notes what comes in, and takes back all that is steered."""

    def after_user_input(message: Any, agent: Agent) -> None:
        messages.append(message.text)
        agent.steering.clear()

    return made("empties", after_user_input=after_user_input)


def test_when_all_that_was_steered_behind_an_answer_is_taken_back_the_answer_stands() -> None:
    came: list[str] = []
    agent = make_agent([{"text": "one"}, {"text": "two"}, {"text": "three"}], emptying(came))
    agent.run_sync("go")
    agent.run_sync("on")
    agent.steer("never mind")
    result = asyncio.run(agent.continue_())
    assert (result.status, result.reason, result.answer, result.iterations) == ("completed", "", "two", 0)
    assert came == ["go", "on", "never mind"]
    assert words(agent.transcript) == ["U go", "A one", "U on", "A two"]


def test_when_what_was_steered_in_mid_run_is_taken_back_the_answer_before_it_is_put_to_those_who_may_go_on() -> None:
    asked: list[str] = []
    came: list[str] = []

    def before_complete(answer: str) -> None:
        asked.append(answer)

    def after_llm(response: Any, agent: Agent) -> None:
        agent.steer("never mind")

    plugins = [emptying(came), made("steers", after_llm=after_llm, before_complete=before_complete)]
    agent = make_agent([calls("quick"), {"text": "one"}, {"text": "two"}], *plugins)
    result = agent.run_sync("go")
    assert (result.status, result.reason, result.answer, result.iterations) == ("completed", "", "one", 2)
    assert asked == ["one"]
    assert came == ["go", "never mind", "never mind"]
    assert words(agent.transcript) == ["U go", "A c1", "R c1 ok", "A one"]


def test_a_model_that_has_only_paused_is_asked_on_whatever_is_steered_and_taken_back() -> None:
    came: list[str] = []
    script = [{"text": "half", "stop": "pause"}, {"text": "rest"}]
    agent = make_agent(script, emptying(came), limits={"max_iterations": 1})
    assert agent.run_sync("go").status == "limit"
    agent.steer("never mind")
    result = asyncio.run(agent.continue_())
    assert (result.status, result.answer) == ("completed", "rest")
    assert words(agent.transcript) == ["U go", "A half", "A rest"]


def test_a_model_that_pauses_behind_a_follow_up_is_asked_on() -> None:
    asked: list[str] = []

    def before_complete(answer: str) -> None:
        asked.append(answer)

    script = [{"text": "one"}, {"text": "half", "stop": "pause"}, {"text": "rest"}]
    agent = make_agent(script, made("notes", before_complete=before_complete))
    agent.follow_up("more")
    assert agent.run_sync("go").answer == "rest"
    assert asked == ["one", "rest"]
    assert words(agent.transcript) == ["U go", "A one", "U more", "A half", "A rest"]
