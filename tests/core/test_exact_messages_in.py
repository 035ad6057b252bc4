"""Messages on their way in, to the letter: what is announced, kept, refused and taken back, and whose it stays."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hookagent import Agent, PluginError, Replace, Stop, UserMessage
from hookagent.events import MessageEnd, MessageStart
from hookagent.testing import ScriptedProvider
from tests.core.plugin_making import made
from tests.core.scripts import calls, make_agent, ok, words

ANSWER = {"text": "done"}


def texts(messages: Any) -> list[str]:
    return [one.text for one in messages]


def only_at(text: str, returned: Any) -> Any:
    """An `after_user_input` that says something about one message, and nothing about the others."""
    return lambda message: returned(message) if message.text == text else None


# ---- what is stored ----


def test_each_message_that_comes_in_is_announced_and_then_told_as_it_is_stored() -> None:
    agent = make_agent([ANSWER], made("adds", after_user_input=lambda message: ["a\ud800b", "plain"]))
    agent.run_sync([UserMessage("one"), UserMessage("two")])
    stored = ["one", "a\ufffdb", "plain", "two", "a\ufffdb", "plain", "done"]
    events = [one for one in agent.session.trace if isinstance(one, MessageStart | MessageEnd)]
    roles = [one.role for one in events if isinstance(one, MessageStart)]
    assert roles == ["user"] * 6 + ["assistant"]
    assert [type(one) for one in events[:12]] == [MessageStart, MessageEnd] * 6
    ends = [one.message for one in events if isinstance(one, MessageEnd)]
    assert texts(ends) == stored
    assert ends == list(agent.transcript.messages())


def test_what_is_made_valid_keeps_whose_message_it_is() -> None:
    agent = make_agent([ANSWER], made("adds", before_llm=lambda: UserMessage("a\ud800b", origin="forged", via="steer")))
    agent.run_sync("go")
    message = agent.transcript[1]
    assert isinstance(message, UserMessage)
    assert (message.text, message.origin, message.via) == ("a\ufffdb", "adds", "plugin")


def test_every_plugin_sees_what_those_before_it_made_of_the_message_and_the_last_word_counts() -> None:
    seen: list[tuple[str, str]] = []

    def noting(name: str, returned: Any) -> Any:
        def after_user_input(message: Any) -> Any:
            seen.append((name, message.text))
            return returned

        return made(name, after_user_input=after_user_input)

    changed = UserMessage("changed", origin="forged", via="plugin")
    plugins = [noting("a", None), noting("b", "from b"), noting("c", Replace(changed)), noting("d", None)]
    agent = make_agent(
        [ANSWER], *plugins, noting("e", ["from e", Replace(UserMessage("again", origin="forged", via="steer"))])
    )
    agent.run_sync("go")
    assert seen == [("a", "go"), ("b", "go"), ("c", "go"), ("d", "changed"), ("e", "changed")]
    assert words(agent.transcript) == ["U again", "U from b <b>", "U from e <e>", "A done"]
    first = agent.transcript[0]
    assert isinstance(first, UserMessage)
    assert (first.origin, first.via) == (None, "prompt")


def test_the_prompt_of_the_session_is_what_became_of_the_newest_one_and_nothing_that_was_queued() -> None:
    shown: list[str] = []
    changing = made("changes", after_user_input=only_at("go", lambda message: Replace(UserMessage("went"))))
    noting = made("notes", before_llm=lambda session: shown.append(session.user_prompt))
    agent = make_agent([{"text": "one"}, {"text": "two"}], changing, noting)
    agent.steer("left")
    agent.follow_up("later")
    agent.run_sync([UserMessage("first"), UserMessage("go")])
    assert words(agent.transcript) == ["U first", "U went", "U left", "A one", "U later", "A two"]
    assert shown == ["went", "went"]


# ---- what is refused ----


@pytest.mark.parametrize("via", ["prompt", "steer", "follow_up"])
@pytest.mark.parametrize("fault", ["stops", "fails"])
def test_what_is_refused_is_given_back_as_it_came_and_waits_nowhere(via: str, fault: str) -> None:
    def refuse(message: UserMessage) -> Any:
        if fault == "fails":
            raise ValueError("no")
        return [Stop("not that"), "never stored"]

    change = made("changes", after_user_input=only_at("bad", lambda message: Replace(UserMessage("worse"))))
    refusing = made("refuses", after_user_input=only_at("worse", refuse))
    agent = make_agent([{"text": "one"}, {"text": "two"}], change, refusing)
    prompt = ["bad", "good"] if via == "prompt" else ["go"]
    if via != "prompt":
        getattr(agent, via)("bad")
        getattr(agent, via)("good")
    if fault == "fails":
        with pytest.raises(PluginError, match="plugin 'refuses': hook 'after_user_input' raised ValueError: no"):
            agent.run_sync(prompt)
    else:
        agent.run_sync(prompt)
    result = agent.last_result
    assert result is not None
    assert result.status == ("failed" if fault == "fails" else "stopped")
    if fault == "stops":
        assert result.reason == "'refuses' stopped the run: not that"
    unread = ["good"] if via == "prompt" else []
    assert texts(result.not_stored) == ["bad", *unread]
    assert result.not_stored[0].via == via
    assert texts((*agent.steering.peek(), *agent.follow_ups.peek())) == (["good"] if via != "prompt" else [])
    assert not {"U bad", "U worse", "U never stored", "U good"} & set(words(agent.transcript))


def test_of_equal_prompts_only_those_that_were_not_read_are_given_back() -> None:
    came = []

    def after_user_input(message: UserMessage) -> Any:
        came.append(message)
        return Stop("enough") if len(came) == 2 else None

    prompt = UserMessage("same")
    result = make_agent([ANSWER], made("stops", after_user_input=after_user_input)).run_sync([prompt, prompt, prompt])
    assert texts(result.not_stored) == ["same", "same"]
    assert words(result.session.transcript) == ["U same"]


# ---- what is queued ----


@pytest.mark.parametrize("via", ["steer", "follow_up"])
def test_what_is_taken_back_while_others_come_in_is_left_out_and_the_rest_comes(via: str) -> None:
    def after_user_input(message: UserMessage, agent: Agent) -> Any:
        queue = agent.steering if via == "steer" else agent.follow_ups
        for one in queue.peek():
            if message.text == "q1" and one.text in ("q1", "q2"):
                queue.take(one)
        return f"behind {message.text}"

    plugin = made("takes", after_user_input=after_user_input)
    agent = make_agent([{"text": "one"}, {"text": "two"}], plugin, steering_mode="all", follow_up_mode="all")
    for text in ("q1", "q2", "q3"):
        getattr(agent, via)(text)
    assert agent.run_sync("go").status == "completed"
    said = [one for one in words(agent.transcript) if one.startswith("U")]
    assert said == ["U go", "U behind go <takes>", "U q3", "U behind q3 <takes>"]
    assert not len(agent.steering)
    assert not len(agent.follow_ups)


@pytest.mark.parametrize("via", ["steer", "follow_up"])
def test_an_abort_while_what_is_queued_comes_in_leaves_the_rest_in_the_queue(via: str) -> None:
    def after_user_input(message: UserMessage, agent: Agent) -> Any:
        if message.text == "q1":
            agent.abort("enough")
        return f"behind {message.text}"

    plugin = made("aborts", after_user_input=after_user_input)
    agent = make_agent([{"text": "one"}, {"text": "two"}], plugin, steering_mode="all", follow_up_mode="all")
    for text in ("q1", "q2"):
        getattr(agent, via)(text)
    result = agent.run_sync("go")
    assert (result.status, result.reason) == ("aborted", "enough")
    said = [one for one in words(agent.transcript) if one.startswith("U")]
    assert said == ["U go", "U behind go <aborts>", "U q1"]  # what is added after an abort is dropped
    assert texts((*agent.steering.peek(), *agent.follow_ups.peek())) == ["q2"]


def test_what_a_hook_adds_beside_the_transcript_is_dropped() -> None:
    """A direct call of a tool asks the gates of the runs around it; a note of theirs has no place to stand there."""
    seen: list[str] = []

    def before_tools(tool_calls: Any) -> str:
        seen.extend(one.name for one in tool_calls)
        return f"about {seen[-1]}"

    inner = Agent("inner", tools=[ok], model=ScriptedProvider([ANSWER]), quiet=True)

    async def directly() -> str:
        """Call a tool of another agent."""
        return (await inner.call_tool("ok")).content

    outer = make_agent([calls("directly"), ANSWER], made("gate", before_tools=before_tools), tools=[directly])
    assert asyncio.run(outer.run("go")).status == "completed"
    assert seen == ["directly", "ok"]
    assert words(inner.transcript) == []
    assert words(outer.transcript) == ["U go", "A c1", "R c1 ok", "U about directly <gate>", "A done"]
