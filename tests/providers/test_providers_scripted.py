from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from hookagent.errors import ConfigurationError, ProviderError
from hookagent.frozen import FrozenDict
from hookagent.messages import AssistantMessage, ProviderPart, TextPart, ToolCall, UserMessage
from hookagent.providers.base import Delta
from hookagent.providers.scripted import ScriptedProvider
from hookagent.transcript import Transcript

SCRIPT = """\
- text: I will look.
  thinking: hm
  calls:
    - {name: count_words, arguments: {path: README.md}}
    - {name: save, raw_arguments: '{"doc": "aaa'}
  usage: {input_tokens: 10, output_tokens: 3}
- expect: "123 words"
  text: There are 123 words.
"""


def write(folder: Path, text: str) -> Path:
    file = folder / "replies.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_script_file_answers_step_by_step(tmp_path: Path, make_request: Any, items_of: Any, answered: Any) -> None:
    provider = ScriptedProvider.from_file(write(tmp_path, SCRIPT))
    items = items_of(provider, make_request("how many words?"))
    reply = items[-1]
    assert [type(part) for part in reply.parts] == [ProviderPart, TextPart, ToolCall, ToolCall]
    good, broken = reply.tool_calls
    assert good.arguments == {"path": "README.md"}
    assert (broken.arguments, broken.raw) == (None, '{"doc": "aaa')
    assert broken.problem
    assert reply.stop_reason == "tool_calls"
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.requests) == (10, 3, 1)
    assert "".join(item.text for item in items[:-1] if item.kind == "text") == "I will look."
    with pytest.raises(ConfigurationError, match=r"replies\.yaml:7: step 2: not used"):
        provider.assert_finished()
    transcript = answered(make_request("how many words?").blocks.transcript, reply, "README.md: 123 words", "cut")
    assert items_of(provider, make_request(transcript))[-1].text == "There are 123 words."
    provider.assert_finished()


def test_chunks_are_the_same_each_time(make_request: Any, items_of: Any) -> None:
    step = {"text": "a long answer that does not fit into one piece", "calls": [{"name": "t", "arguments": {"a": 1}}]}
    first, second = (items_of(ScriptedProvider([step]), make_request("hi")) for _ in range(2))
    assert first == second
    assert len([item for item in first if isinstance(item, Delta) and item.kind == "text"]) == 2


def test_a_missing_step_names_script_and_step(tmp_path: Path, make_request: Any, items_of: Any) -> None:
    provider = ScriptedProvider.from_file(write(tmp_path, "- one\n"))
    items_of(provider, make_request("hi"))
    with pytest.raises(ProviderError, match=r"replies\.yaml has 1 step, but step 2 was asked for") as failed:
        items_of(provider, make_request("hi"))
    assert failed.value.kind == "response"


def test_an_expectation_that_is_not_met(make_request: Any, items_of: Any) -> None:
    provider = ScriptedProvider([{"expect": "weather", "text": "sunny"}])
    with pytest.raises(ProviderError, match="step 1: expected 'weather' in the last message, got: what time is it"):
        items_of(provider, make_request("what time is it"))


def test_an_expectation_may_be_met_by_a_note(make_request: Any, items_of: Any) -> None:
    provider = ScriptedProvider([{"expect": "hurry", "text": "yes"}])
    assert items_of(provider, make_request("hi").with_note("please hurry"))[-1].text == "yes"


def test_an_error_comes_behind_the_text_before_it(make_request: Any) -> None:
    provider = ScriptedProvider([{"text": "half", "error": "rate_limit", "retry_after": 2.5, "status": 429}])
    seen = []

    async def collect() -> None:
        async for item in provider.stream(make_request("hi")):
            seen.append(item)

    with pytest.raises(ProviderError) as failed:
        asyncio.run(collect())
    assert seen == [Delta("text", "half")]
    assert (failed.value.kind, failed.value.retry_after, failed.value.status) == ("rate_limit", 2.5, 429)


def test_functions_and_messages_are_steps_too(make_request: Any, items_of: Any) -> None:
    async def later(request: Any) -> str:
        return f"{len(request.blocks)} block"

    call = ToolCall("mine", "t", FrozenDict())
    provider = ScriptedProvider([later, AssistantMessage((call,), "tool_calls"), lambda request: {"text": "x"}])
    assert items_of(provider, make_request("hi"))[-1].text == "1 block"
    assert items_of(provider, make_request("hi"))[-1].tool_calls[0].id == "mine"
    assert items_of(provider, make_request("hi"))[-1].text == "x"


def test_one_function_answers_every_request(make_request: Any, items_of: Any) -> None:
    provider = ScriptedProvider(lambda request: "again")
    assert [items_of(provider, make_request("hi"))[-1].text for _ in range(3)] == ["again"] * 3
    provider.assert_finished()


def test_ids_are_unique_in_the_conversation(make_request: Any, items_of: Any, answered: Any) -> None:
    twice = {"calls": [{"name": "edit", "id": "edit:22"}, {"name": "edit", "id": "edit:22"}]}
    provider = ScriptedProvider([twice, twice, {"calls": [{"name": "t"}]}, {"calls": [{"name": "t"}]}])
    transcript = Transcript([UserMessage("go")])
    for _ in range(4):
        reply = items_of(provider, make_request(transcript))[-1]
        transcript = answered(transcript, reply, *["ok"] * len(reply.tool_calls))
    ids = [call.id for block in list(transcript)[1:] for call in block.calls]  # type: ignore[union-attr]
    assert ids[0] == "edit:22"
    assert len(set(ids)) == 6


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("- {tex: hi}\n", "replies.yaml:1: step 1: unknown key 'tex'; did you mean 'text'?"),
        ("- hi\n- 3\n", "replies.yaml:2: step 2: a step is a text or a mapping, not 3"),
        ("- {text: 3}\n", "'text' is a text, not 3; put it in quotes"),
        ("- {calls: {name: t}}\n", "'calls' is a list of calls, not a mapping"),
        ("- {calls: [{arguments: {}}]}\n", "call 1: a call needs a 'name'"),
        ("- {calls: [{name: t, arguments: '{}'}]}\n", "write broken ones as 'raw_arguments'"),
        ("- {calls: [{name: t, arguments: {}, raw_arguments: x}]}\n", "stands instead of 'arguments'"),
        ("- {calls: [{name: t, arguments: {x: .nan}}]}\n", "cannot be JSON"),
        ("- {stop: ended}\n", "unknown stop reason 'ended'; did you mean 'end'?"),
        ("- {error: overload}\n", "unknown error kind 'overload'; did you mean 'overloaded'?"),
        ("- {stop: [end]}\n", "unknown stop reason ['end']"),
        ("- {usage: {input_tokens: -1}}\n", "'input_tokens' is a whole number from 0, not -1"),
        ("- {usage: {input_tokens: 1.5}}\n", "'input_tokens' is a whole number from 0, not 1.5"),
        ("- {usage: {cost_usd: .nan}}\n", "'cost_usd' is a number from 0, not nan"),
        ("- {error: overloaded, status: abc}\n", "'status' is a whole number from 1, not 'abc'"),
        ("- {error: overloaded, retry_after: soon}\n", "'retry_after' is a number of seconds from 0, not 'soon'"),
        ("- {error: too_long, window: 0}\n", "'window' is a whole number from 1, not 0"),
        ("- {calls: [{name: t, arguments: &a {b: *a}}]}\n", "'arguments' cannot be JSON: nested too deeply"),
        ("- 2026-13-45\n", "a value cannot be read: month must be in 1..12; put it in quotes"),
        ("- a\x01b\n", "not YAML: unacceptable character"),
        (f"{'[' * 3000}{']' * 3000}\n", "replies.yaml: nested too deeply"),
        ("- text: a\n  text: b\n", "replies.yaml:2:3: duplicate key 'text'; remove one of them"),
        ("- {expect: 3}\n", "'expect' is a text"),
        ("text: hi\n", "unknown key 'text'; there are: replies, context_window"),
        ("{replies: 3}\n", "a script is a list of steps"),
        ("", "a script is a list of steps"),
        ("- [\n", "replies.yaml:2:1: not YAML"),
        ("{replies: [hi], context_window: 0}\n", "'context_window' is a number of tokens, not 0"),
    ],
)
def test_a_script_that_cannot_be_read(script: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as failed:
        ScriptedProvider.from_file(write(tmp_path, script))
    assert said in str(failed.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        ScriptedProvider.from_file(tmp_path / "none.yaml")


def test_a_script_may_name_its_window(tmp_path: Path) -> None:
    file = write(tmp_path, "context_window: 1000\nreplies:\n- hi\n")
    assert ScriptedProvider.from_file(file).context_window == 1000
