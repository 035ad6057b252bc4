import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from hookagent import (
    Agent,
    AssistantMessage,
    BlockView,
    ConfigurationError,
    Image,
    ProviderError,
    Request,
    ToolRound,
    Transcript,
    UserMessage,
    complete_sync,
    hookimpl,
)
from hookagent_local import LocalProvider

QUESTION = "How many words are in README.md?"


def request(text: str = QUESTION, images: tuple[Image, ...] = (), **others: Any) -> Request:
    tools = Agent(tools=["files"], model=LocalProvider()).tools.tools
    return Request(BlockView(Transcript([UserMessage(text, images)])), **{"tools": tools, **others})


async def reply_to(asked: Request) -> AssistantMessage:
    replies = [reply async for reply in LocalProvider().stream(asked)]
    assert len(replies) == 1
    return replies[0]


def run(coroutine: Any) -> Any:
    return asyncio.run(coroutine)


def test_it_says_what_it_is() -> None:
    provider = LocalProvider()
    assert (provider.name, provider.model, provider.wire, provider.context_window) == ("local", "", None, 8192)
    assert "half of the time" in provider.notice
    assert "tool results" in provider.notice


def test_another_name_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="'local:large': there is one embedded model only; write 'local'"):
        LocalProvider("large")


def test_a_call_is_a_tool_call_part_without_text(folder: Path) -> None:
    reply = run(reply_to(request()))
    assert reply.stop_reason == "tool_calls"
    assert reply.text == ""
    (call,) = reply.tool_calls
    assert (call.name, call.arguments, call.raw) == ("count_words", {"path": "README.md"}, None)
    assert call.id.startswith("call_")
    with pytest.raises(TypeError, match="frozen"):
        call.arguments["path"] = "LICENSE"


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"temperature": 0.1}, "model setting 'temperature'"),
        ({"effort": "low"}, "model setting 'effort'"),
        ({"stop": ["x"]}, "model setting 'stop'"),
        ({"seed": 1}, "model setting 'seed'"),
        ({"local": {"threads": 2}}, "model setting 'local'"),
        ({"max_output_tokens": 0}, "'max_output_tokens' with the value 0"),
        ({"max_output_tokens": "many"}, "'max_output_tokens' with the value 'many'"),
    ],
)
def test_a_setting_that_it_cannot_take_is_an_error(folder: Path, settings: Mapping[str, Any], named: str) -> None:
    with pytest.raises(ProviderError, match=named) as caught:
        run(reply_to(request(settings=settings)))
    assert caught.value.kind == "unsupported_setting"


def test_images_and_output_schemas_are_errors(folder: Path) -> None:
    with pytest.raises(ProviderError, match="an image is not taken") as caught:
        run(reply_to(request(images=(Image("aGk=", "image/png"),))))
    assert caught.value.kind == "unsupported_setting"
    with pytest.raises(ProviderError, match="output schema") as caught:
        run(reply_to(request(output_schema={"type": "object"})))
    assert caught.value.kind == "unsupported_setting"


def test_other_vendors_settings_and_unset_ones_are_left_alone(folder: Path) -> None:
    settings = {"anthropic": {"top_k": 3}, "temperature": None, "max_output_tokens": 4096}
    assert run(reply_to(request(settings=settings))).stop_reason == "tool_calls"


def test_a_cut_reply_hits_the_limit_and_calls_nothing(folder: Path) -> None:
    agent = Agent(tools=["files"], model=LocalProvider(), model_settings={"max_output_tokens": 5})
    result = agent.run_sync(QUESTION)
    assert (result.status, result.limit, result.tool_calls) == ("limit", "model_settings.max_output_tokens", 0)
    assert "max_output_tokens (5)" in result.answer


@pytest.mark.parametrize("others", [{"tools": ()}, {"tool_choice": "none"}])
def test_without_tools_it_says_that_it_can_do_nothing(folder: Path, others: Mapping[str, Any]) -> None:
    reply = run(reply_to(request(**others)))
    assert reply.stop_reason == "refusal"
    assert "it was offered none" in reply.text


def test_the_one_shot_call_is_refused_and_gets_no_structured_answer() -> None:
    class Lesson(BaseModel):
        text: str

    with pytest.raises(ProviderError, match="no tool fits the request") as refused:
        complete_sync("What did we learn?", model=LocalProvider())
    assert refused.value.kind == "filtered"
    with pytest.raises(ProviderError, match="output schema") as caught:
        complete_sync("What did we learn?", model=LocalProvider(), output=Lesson)
    assert caught.value.kind == "unsupported_setting"


def test_a_request_longer_than_it_reads_is_an_error(folder: Path) -> None:
    result = Agent(tools=["files"], model=LocalProvider()).run_sync("Count the words of this: " + "blah " * 10_000)
    assert result.status == "failed"
    assert "50,025 characters" in result.reason


def test_text_that_is_no_utf8_and_holds_a_null_is_survived(folder: Path) -> None:
    result = Agent(tools=["files"], model=LocalProvider()).run_sync('\ud800 \0 日本語で naïve \\ "quoted"')
    assert result.status in ("completed", "failed")
    assert result.answer.strip()
    assert Agent(tools=["files"], model=LocalProvider()).run_sync(QUESTION).status == "completed"


def test_a_failing_tool_is_told_as_failed() -> None:
    def count_words(path: str) -> str:
        """Count the words in a file."""
        raise OSError(f"{path} is on fire")

    result = Agent(tools=[count_words], model=LocalProvider()).run_sync(QUESTION)
    assert result.answer == "count_words(path=README.md) failed: OSError: README.md is on fire"
    assert result.iterations == 2


def test_a_plugins_message_behind_the_results_changes_nothing(folder: Path) -> None:
    @hookimpl
    def after_tools(tool_round: ToolRound) -> str:
        return "Reflect: what did you learn? Read LICENSE next."

    result = Agent(tools=["files"], model=LocalProvider(), plugins=[after_tools]).run_sync(QUESTION)
    assert (result.status, result.tool_calls, result.iterations) == ("completed", 1, 2)
    assert result.answer.startswith("README.md: 98 words")


def test_a_plugin_that_wants_a_better_answer_gets_the_same_and_an_end(folder: Path) -> None:
    @hookimpl
    def before_complete(answer: str) -> str:
        return "Read LICENSE and answer again."

    result = Agent(tools=["files"], model=LocalProvider(), plugins=[before_complete]).run_sync(QUESTION)
    assert (result.status, result.tool_calls) == ("completed", 1)
    assert result.answer.startswith("README.md: 98 words")


def test_a_steering_message_is_done_too_and_both_are_told(folder: Path) -> None:
    agent = Agent(tools=["files"], model=LocalProvider())
    agent.subscribe(lambda event: agent.steer("read CHANGELOG.md") if event.type == "tool_start" and not done else None)
    done: list[str] = []
    agent.subscribe(lambda event: done.append(event.type) if event.type == "tool_end" else None)
    result = agent.run_sync(QUESTION)
    assert result.status == "completed"
    assert result.answer.splitlines() == [
        f"count_words(path=README.md) gave: README.md: 98 words, 14 lines, {len((folder / 'README.md').read_text())} "
        "characters",
        "read_file(path=CHANGELOG.md) gave: one two three",
    ]


def test_a_steering_message_that_comes_to_nothing_keeps_what_was_found(folder: Path) -> None:
    agent = Agent(tools=["files"], model=LocalProvider())
    agent.subscribe(lambda event: agent.steer("Who wrote Hamlet?") if event.type == "tool_start" else None)
    result = agent.run_sync(QUESTION)
    assert result.status == "completed"
    assert result.answer.startswith("README.md: 98 words")
    assert "found no tool for this" in result.answer


def test_a_follow_up_is_answered_by_itself(folder: Path) -> None:
    agent = Agent(tools=["files"], model=LocalProvider())
    agent.follow_up("read LICENSE")
    assert agent.run_sync(QUESTION).answer.strip() == "free as in air"
