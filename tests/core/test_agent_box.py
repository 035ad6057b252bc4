"""The box around the loop: entries, misuse, listeners, streams, replies."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from hookagent import Agent, ConfigurationError, MisuseError, UserMessage
from hookagent.errors import ProviderError, RunError
from hookagent.events import Event
from hookagent.messages import AssistantMessage, TextPart
from hookagent.providers.scripted import ScriptedProvider
from hookagent.testing import Recorder
from hookagent.usage import Usage
from tests.core.scripts import calls, make_agent, ok, words

ANSWER = {"text": "done"}


@pytest.mark.parametrize("prompt", ["", "  \n", [], [""], UserMessage(" ")])
def test_an_empty_prompt_is_refused_before_anything_happens(prompt: Any) -> None:
    agent = make_agent([ANSWER])
    with pytest.raises(MisuseError, match="the prompt is empty"):
        agent.run_sync(prompt)
    assert len(agent.session.transcript) == 0
    assert agent.session.turn == 0


def test_a_prompt_may_be_text_a_message_or_a_list() -> None:
    agent = make_agent([ANSWER, ANSWER])
    agent.run_sync(UserMessage("one"))
    agent.run_sync(["two", UserMessage("three")])
    assert words(agent.session.transcript) == ["U one", "A done", "U two", "U three", "A done"]


def test_half_a_surrogate_pair_in_a_prompt_is_cleaned_at_the_border() -> None:
    agent = make_agent([ANSWER])
    agent.run_sync("x\udce9y")
    stored = agent.session.transcript[0]
    assert isinstance(stored, UserMessage)
    stored.text.encode()
    assert stored.text[0] + stored.text[-1] == "xy"


def test_a_second_run_while_one_is_active_is_refused_with_advice() -> None:
    agent = make_agent([calls("again"), ANSWER], tools=[ok])

    async def again() -> str:
        """Run the agent that is running."""
        with pytest.raises(MisuseError, match="queue the message with steer"):
            await agent.run("no")
        with pytest.raises(MisuseError, match="a run is active"):
            await agent.reset()
        with pytest.raises(MisuseError, match="a run is active"):
            await agent.continue_()
        return "refused"

    agent.tools.add(again)
    result = agent.run_sync("go")
    assert result.status == "completed"
    assert words(result.session.transcript) == ["U go", "A c1", "R c1 ok", "A done"]


def test_run_sync_in_a_running_loop_says_what_to_do() -> None:
    agent = make_agent([ANSWER])

    async def main() -> None:
        with pytest.raises(MisuseError, match=r"use 'await agent.run"):
            agent.run_sync("go")

    asyncio.run(main())


def test_reset_begins_a_new_session_and_close_ends_it() -> None:
    agent = make_agent([{"text": "1"}, {"text": "2"}])
    agent.run_sync("go")
    old = agent.session
    agent.steer("left over")
    asyncio.run(agent.reset())
    assert agent.session.id != old.id
    assert len(agent.session.transcript) == 0
    assert len(agent.steering) == 0
    assert len(old.transcript) == 2
    agent.close_sync()
    with pytest.raises(MisuseError, match="the session was closed"):
        agent.run_sync("go")


def test_model_tools_and_system_prompt_changed_in_mid_run_count_from_the_next_request() -> None:
    recorder = Recorder()
    agent = make_agent([calls("change")], recorder, tools=[], system_prompt="old")
    second = ScriptedProvider([{"text": "from the second model"}])

    def change() -> str:
        """Change everything."""
        agent.system_prompt = "new"
        agent.model = second
        agent.tools.add(ok)
        return "changed"

    agent.tools.add(change)
    assert agent.run_sync("go").answer == "from the second model"
    requests = [arguments["request"] for hook, arguments in recorder.calls if hook == "shape_request"]
    assert [request.system for request in requests] == ["old", "new"]
    assert [[tool.name for tool in request.tools] for request in requests] == [["change"], ["change", "ok"]]


def test_a_listener_that_raises_is_named_dropped_after_three_faults_and_changes_nothing() -> None:
    agent = make_agent([calls("ok"), ANSWER])
    heard: list[Event] = []

    def broken(event: Event) -> None:
        raise RuntimeError("boom")

    agent.subscribe(broken)
    agent.subscribe(heard.append)
    result = agent.run_sync("go")
    assert result.status == "completed"
    faults = [text for text in result.warnings if "broken" in text]
    assert len(faults) == 3
    assert faults[-1].endswith("; it is dropped")
    assert [event.number for event in heard] == sorted(event.number for event in heard)
    assert words(result.session.transcript) == ["U go", "A c1", "R c1 ok", "A done"]


def test_a_stream_yields_every_event_and_leaves_the_result() -> None:
    agent = make_agent([calls("quick"), {"text": "streamed text"}])

    async def main() -> list[Event]:
        return [event async for event in agent.stream("go")]

    events = asyncio.run(main())
    assert [event.number for event in events] == list(range(1, len(events) + 1))
    assert "".join(event.text for event in events if event.type == "message_delta" and event.kind == "text") == (
        "streamed text"
    )
    assert agent.last_result is not None
    assert agent.last_result.answer == "streamed text"
    kept = [event for event in events if event.type not in ("message_delta", "tool_progress")]
    assert list(agent.session.trace) == kept


def test_leaving_a_stream_early_aborts_the_run() -> None:
    agent = make_agent([calls("quick"), ANSWER])

    async def main() -> None:
        stream = agent.stream("go")
        async for event in stream:
            if event.type == "tool_start":
                break
        await stream.aclose()  # type: ignore[attr-defined]

    asyncio.run(main())
    assert agent.last_result is not None
    assert agent.last_result.status == "aborted"
    assert agent.session.transcript.open_round is None
    assert not agent.running


def test_raise_for_status() -> None:
    agent = make_agent([ANSWER, {"error": "authentication"}])
    result = agent.run_sync("go")
    assert result.raise_for_status() is result
    assert str(result) == "done"
    with pytest.raises(RunError, match="run failed"):
        agent.run_sync("go").raise_for_status()


def test_an_empty_reply_is_never_an_answer() -> None:
    class Empty(ScriptedProvider):
        async def stream(self, request: Any) -> Any:
            yield AssistantMessage((TextPart(" "),), "unknown", Usage(), stop_detail="weird_new")

    agent = Agent(model=Empty([]))
    result = agent.run_sync("go")
    assert result.status == "failed"
    assert "stop reason: unknown (weird_new)" in result.reason
    assert words(agent.session.transcript) == ["U go"]


def test_an_answer_cut_by_the_output_limit_is_a_limit() -> None:
    result = make_agent([{"text": "half an ans", "stop": "length"}]).run_sync("go")
    assert (result.status, result.limit, result.answer) == ("limit", "model_settings.max_output_tokens", "half an ans")


def test_a_failing_model_call_leaves_the_earlier_round_closed() -> None:
    agent = make_agent([calls("ok", "quick"), {"error": "authentication"}, {"text": "back"}])
    assert agent.run_sync("go").status == "failed"
    assert words(agent.session.transcript) == ["U go", "A c1 c2", "R c1 ok", "R c2 ok"]
    assert agent.run_sync("try again").answer == "back"


def test_a_provider_error_of_another_kind_is_a_status_and_not_an_exception() -> None:
    class Broken(ScriptedProvider):
        async def stream(self, request: Any) -> Any:
            raise ProviderError("invalid_request", "vendor", "no")
            yield

    assert Agent(model=Broken([])).run_sync("go").reason == "vendor: no"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"model": 5}, "model: expected a name such as 'anthropic:claude-sonnet-5' or a provider, got a int"),
        ({"plugins": "tool-logging"}, "plugins: expected a list of plugins, got 'tool-logging'"),
        ({"model_settings": {"efort": 3}}, "model_settings: unknown setting 'efort'; did you mean 'effort'?"),
        ({"tool_execution": "serial"}, "tool_execution: expected 'parallel' or 'sequential', got 'serial'"),
    ],
)
def test_what_an_agent_cannot_be_made_of(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Agent(**options)
    assert says in str(caught.value)


@pytest.mark.parametrize("prompt", [None, 5, {"a": 1}])
def test_a_prompt_of_another_kind_is_misuse(prompt: Any) -> None:
    with pytest.raises(MisuseError, match="a prompt is text, a UserMessage, or a list of them"):
        make_agent([ANSWER]).run_sync(prompt)


def test_a_run_may_follow_a_stream_that_was_just_left() -> None:
    agent = make_agent([calls("quick"), ANSWER, {"text": "second"}])

    async def main() -> str:
        async for _ in agent.stream("go"):
            break
        return (await agent.run("again")).answer

    assert asyncio.run(main()) in ("done", "second")
    assert agent.transcript.open_round is None


def test_a_tool_whose_type_cannot_be_described_is_said_before_anything_begins() -> None:
    def odd(f: Callable[[], int]) -> str:
        """Take a function."""
        return "never"

    agent = make_agent([ANSWER], tools=[odd])
    with pytest.raises(ConfigurationError, match="odd"):
        agent.run_sync("go")
    assert agent.session.turn == 0


def test_the_kind_of_the_models_failure_is_in_the_result() -> None:
    assert make_agent([{"error": "authentication"}]).run_sync("go").error_kind == "authentication"
    assert make_agent([ANSWER]).run_sync("go").error_kind is None
