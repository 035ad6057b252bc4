"""Where everything stands in a request, on each wire form; all bodies pass the strict checkers of the test kit."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import Any

import pytest

from hookagent.errors import RequestRefusedError
from hookagent.frozen import FrozenDict, freeze
from hookagent.messages import AssistantMessage, Image, ProviderPart, TextPart, ToolCall, ToolResult, UserMessage
from hookagent.requests import BlockView
from hookagent.transcript import Transcript


def reply(*calls: ToolCall, text: str = "", **fields: Any) -> AssistantMessage:
    parts = ((TextPart(text),) if text else ()) + calls
    return AssistantMessage(parts, "tool_calls" if calls else "end", **fields)


def call(call_id: str = "c1", name: str = "t", **arguments: Any) -> ToolCall:
    return ToolCall(call_id, name, freeze(arguments))


def one_round(*contents: str, names: tuple[str, ...] = ("c1",)) -> Transcript:
    grown = Transcript([UserMessage("go")]).with_reply(reply(*[call(name) for name in names]))
    for name, content in zip(names, contents, strict=True):
        grown = grown.with_result(ToolResult(content, call_id=name))
    return grown


def checked(wire: Any, request: Any) -> Any:
    body = wire.body(request)
    wire.check_own(body, request)
    wire.check_kit({**json.loads(json.dumps(body)), "stream": True})
    return body[wire.list_field]


def texts(messages: Any) -> list[tuple[str, str]]:
    """Role and text of each piece, in order, whatever the wire form."""
    flat: list[tuple[str, str]] = []
    for message in messages:
        role = message.get("role") or message["type"]
        content = message.get("content") or message.get("output")
        if isinstance(content, str):
            flat.append((role, content))
            continue
        for block in content or ():
            result = block.get("type") == "tool_result"
            flat.append(
                ("result" if result else role, block["content"] if result else block.get("text", block["type"]))
            )
    return [("result" if role in ("tool", "function_call_output") else role, text) for role, text in flat]


def test_results_stand_right_behind_their_calls_and_other_text_behind_them(wire: Any, make_request: Any) -> None:
    transcript = one_round("found", names=("c1",)).with_user(UserMessage("ctx", origin="plugin"))
    messages = checked(wire, make_request(transcript))
    assert texts(messages)[-2:] == [("result", "found"), ("user", "ctx")]
    if wire.name == "openai-chat":
        assert [message["role"] for message in messages] == ["user", "assistant", "tool", "user"]
    if wire.name == "anthropic":
        assert [block["type"] for block in messages[-1]["content"]] == ["tool_result", "text"]


def test_results_stand_in_call_order(wire: Any, make_request: Any) -> None:
    grown = Transcript([UserMessage("go")]).with_reply(reply(call("a"), call("b"), call("c")))
    for name in ("c", "a", "b"):
        grown = grown.with_result(ToolResult(f"of {name}", call_id=name))
    assert texts(checked(wire, make_request(grown)))[-3:] == [("result", f"of {name}") for name in "abc"]


def test_the_system_text_reaches_every_vendor_once(wire: Any, make_request: Any) -> None:
    transcript = Transcript([UserMessage("one")]).with_reply(reply(text="1")).with_user(UserMessage("two"))
    request = make_request(transcript, system="today is Monday")
    body = wire.body(request)
    checked(wire, request)
    assert json.dumps(body).count("today is Monday") == 1
    if wire.name == "anthropic":
        assert {message["role"] for message in body["messages"]} == {"user", "assistant"}
        assert body["system"][0]["text"] == "today is Monday"
    if wire.name == "openai":
        assert body["instructions"] == "today is Monday"
    if wire.name == "openai-chat":
        assert body["messages"][0] == {"role": "system", "content": "today is Monday"}


def test_blank_text_is_dropped_or_shown_by_a_placeholder(wire: Any, make_request: Any) -> None:
    grown = Transcript([UserMessage("a"), AssistantMessage((TextPart("  \n"),)), UserMessage("b")])
    grown = grown.with_reply(reply(call())).with_result(ToolResult("", call_id="c1"))
    messages = checked(wire, make_request(grown, system=" \n"))
    assert texts(messages)[-1] == ("result", "(no output)")
    assert "system" not in wire.body(make_request(grown, system=" \n"))


@pytest.mark.parametrize("text", ["it is 42", "Sure:\n\n  "])
def test_a_request_never_ends_with_the_models_turn_and_loses_nothing(text: str, wire: Any, make_request: Any) -> None:
    transcript = Transcript([UserMessage("what is it?")]).with_reply(reply(text=text))
    flat = texts(checked(wire, make_request(transcript)))
    assert flat[-1] == ("user", "Continue.")
    assert text.strip() in flat[-2][1]
    assert transcript[1].text == text  # type: ignore[union-attr]


def test_a_note_stands_at_the_tail_instead_of_the_continue_text(wire: Any, make_request: Any) -> None:
    transcript = Transcript([UserMessage("hi")]).with_reply(reply(text="hello"))
    request = make_request(transcript).with_note("one").with_note(" ").with_note("two")
    assert texts(checked(wire, request))[-2:] == [("user", "one"), ("user", "two")]


def test_the_summary_stands_right_behind_the_first_task(wire: Any, make_request: Any) -> None:
    grown = one_round("found").with_reply(reply(text="x")).with_user(UserMessage("more"))
    request = make_request(grown).dropping_before(3).with_summary("what was done")
    flat = texts(checked(wire, request))
    assert flat == [("user", "go"), ("user", "what was done"), ("user", "more")]
    assert texts(checked(wire, make_request(grown).with_summary("s")))[:2] == [("user", "go"), ("user", "s")]


def test_a_replaced_result_text_is_sent_and_the_old_one_is_kept(wire: Any, make_request: Any) -> None:
    request = make_request(one_round("a very long result"))
    checked(wire, request)
    assert texts(checked(wire, request.with_result_text(1, "c1", "[cleared]")))[-1] == ("result", "[cleared]")
    assert texts(checked(wire, request))[-1] == ("result", "a very long result")


def test_old_broken_arguments_are_valid_json_that_shows_what_they_were(wire: Any, make_request: Any) -> None:
    broken = ToolCall("c1", "w", None, '{"city": ', "the text ends too early")
    grown = Transcript([UserMessage("a")]).with_reply(reply(broken))
    grown = grown.with_result(ToolResult("arguments were cut", True, "error", "c1")).with_user(UserMessage("again"))
    messages = checked(wire, make_request(grown))
    sent = json.dumps(messages)
    assert "_unparsed" in sent
    assert "city" in sent


def test_an_error_result_says_so_where_the_wire_has_a_flag(wires: Any, make_request: Any) -> None:
    grown = Transcript([UserMessage("a")]).with_reply(reply(call()))
    grown = grown.with_result(ToolResult("ValueError: no", True, "error", "c1"))
    block = checked(wires["anthropic"], make_request(grown))[-1]["content"][0]
    assert block["is_error"] is True


def test_ids_and_names_that_a_wire_does_not_take_are_mapped_alike_for_call_and_result(
    wire: Any, make_request: Any
) -> None:
    ids = ("functions.edit:22", "x" * 90, "é")
    calls = [ToolCall(call_id, "no such tool!", FrozenDict()) for call_id in ids]
    grown = Transcript([UserMessage("go")]).with_reply(reply(*calls))
    for call_id in ids:
        grown = grown.with_result(ToolResult("unknown tool", True, "error", call_id))
    messages = checked(wire, make_request(grown))
    assert "no_such_tool_" in json.dumps(messages)


def test_images_come_before_their_text(wire: Any, make_request: Any) -> None:
    message = UserMessage("what is this?", (Image("aGk=", "image/png"),))
    content = checked(wire, make_request(Transcript([message])))[0]["content"]
    assert content[0]["type"] in ("image", "input_image", "image_url")
    assert "aGk=" in json.dumps(content[0])
    assert content[1]["text"] == "what is this?"
    checked(wire, make_request(Transcript([replace(message, text="")])))


def test_lone_surrogates_never_reach_the_wire(wire: Any, make_request: Any, tool: Any) -> None:
    bad = "a\ud800b"
    grown = Transcript([UserMessage(bad)]).with_reply(reply(call(q=bad), text=bad))
    grown = grown.with_result(ToolResult(bad, call_id="c1")).with_user(UserMessage(bad))
    described = tool("t")
    described.description = bad
    body = wire.body(make_request(grown, system=bad, tools=(described,)).with_note(bad).with_summary(bad))
    json.dumps(body, ensure_ascii=False).encode()


def test_parts_of_another_vendor_or_model_stay_at_home(wire: Any, make_request: Any) -> None:
    signed = {"type": "thinking", "thinking": "secret", "signature": "s"}
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "secret"}
    parts: tuple[Any, ...] = (
        ProviderPart("anthropic-messages", "thinking", freeze(signed)),
        ProviderPart("openai-responses", "reasoning", freeze(reasoning)),
        TextPart("seen"),
    )
    for model, kept in ((wire.model, wire.name != "openai-chat"), ("other", False)):
        message = AssistantMessage(parts, model=model)
        grown = Transcript([UserMessage("a"), message, UserMessage("b")])
        assert ("secret" in json.dumps(checked(wire, make_request(grown)))) is kept


def test_a_reply_of_nothing_but_thinking_is_left_out(wire: Any, make_request: Any) -> None:
    signed = {"type": "thinking", "thinking": "hm", "signature": "s"}
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e"}
    parts = (
        ProviderPart("anthropic-messages", "thinking", freeze(signed)),
        ProviderPart("openai-responses", "reasoning", freeze(reasoning)),
    )
    grown = Transcript([UserMessage("a"), AssistantMessage(parts, "length"), UserMessage("b")])
    assert [text for _, text in texts(checked(wire, make_request(grown)))] == ["a", "b"]


def test_tools_are_declared_and_may_be_switched_off(wire: Any, make_request: Any, tool: Any) -> None:
    tools = (tool("read_file", path="string"), tool("shell"))
    request = make_request("hi", tools=tools)
    body = wire.body(request)
    checked(wire, request)
    assert len(body["tools"]) == 2
    assert "tool_choice" not in body
    assert "parallel_tool_calls" not in body
    assert wire.body(request)["tools"] is body["tools"]
    off = wire.body(replace(request, tool_choice="none"))
    checked(wire, replace(request, tool_choice="none"))
    assert off["tools"] is body["tools"]
    assert off["tool_choice"] in ("none", {"type": "none"})


def test_calls_in_the_history_of_an_agent_without_tools(wire: Any, make_request: Any) -> None:
    checked(wire, make_request(one_round("found")))


def test_openai_gets_the_session_as_its_cache_key(wires: Any, make_request: Any) -> None:
    for name in ("openai", "openai-chat"):
        assert wires[name].body(make_request("hi", session_id="s1"))["prompt_cache_key"] == "s1"
        assert "prompt_cache_key" not in wires[name].body(make_request("hi"))


def test_responses_are_stateless(wires: Any, make_request: Any) -> None:
    body = wires["openai"].body(make_request("hi"))
    assert body["store"] is False
    assert body["include"] == ["reasoning.encrypted_content"]


def test_each_block_is_encoded_once(wire: Any, make_request: Any) -> None:
    transcript = one_round("found")
    first = wire.body(make_request(transcript))[wire.list_field]
    grown = transcript.with_reply(reply(text="x")).with_user(UserMessage("more"))
    later = wire.body(make_request(grown))[wire.list_field]
    kept = [block.wire_cache[wire.form] for block in transcript]
    assert [message for messages in kept for message in messages]
    assert later[1] is first[1]


def test_a_reply_that_was_asked_to_go_on_stands_behind_what_asked_for_it(wire: Any, make_request: Any) -> None:
    asked = Transcript([UserMessage("go")]).with_reply(reply(text="one"))
    before = texts(checked(wire, make_request(asked)))
    grown = asked.with_reply(reply(text="two")).with_user(UserMessage("on"))
    assert texts(checked(wire, make_request(grown)))[: len(before)] == before


def test_structured_output_is_the_vendors_own(wire: Any, make_request: Any) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1, "default": 3}}}
    request = replace(make_request("hi"), output_schema=schema, output_name="Answer")
    body = wire.body(request)
    checked(wire, request)
    if wire.name == "anthropic":
        form = body["output_config"]["format"]
        assert form["schema"] == {
            "type": "object",
            "properties": {"n": {"type": "integer"}},
            "additionalProperties": False,
        }
    else:
        form = body["text"]["format"] if wire.name == "openai" else body["response_format"]["json_schema"]
        assert (form["name"], form["strict"]) == ("Answer", True)
        assert form["schema"]["required"] == ["n"]
        assert form["schema"]["additionalProperties"] is False


def test_a_schema_with_free_keys_is_sent_without_strictness(wires: Any, make_request: Any) -> None:
    schema = {"type": "object", "properties": {"d": {"type": "object", "additionalProperties": {"type": "string"}}}}
    body = wires["openai"].body(replace(make_request("hi"), output_schema=schema))
    assert body["text"]["format"]["strict"] is False
    assert body["text"]["format"]["schema"] == schema


def test_the_last_check_names_the_plugin_that_shaped_the_request(wire: Any, make_request: Any) -> None:
    request = replace(make_request("hi"), shaped_by="window-cleaner")
    body = wire.body(request)
    body[wire.list_field] = []
    with pytest.raises(RequestRefusedError, match="plugin 'window-cleaner'"):
        wire.check_own(body, request)


def test_the_last_check_looks_into_each_message_once(
    wire: Any, make_request: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = sys.modules[wire.check_own.__module__]
    looked: list[int] = []
    look = getattr(module, "_look_into")  # noqa: B009

    def counting(message: Any, index: int, refuse: Any) -> Any:
        looked.append(index)
        return look(message, index, refuse)

    monkeypatch.setattr(module, "_look_into", counting)
    transcript = Transcript([UserMessage("go")])
    per_request = []
    for number in range(30):
        transcript = transcript.with_reply(reply(call(f"c{number}")))
        transcript = transcript.with_result(ToolResult("found", call_id=f"c{number}"))
        request = make_request(transcript, protected=(0,))
        looked.clear()
        wire.check_own(wire.body(request), request)
        per_request.append(len(looked))
    # The two new messages, and on the Anthropic wire the copies that carry the moving marks: never the whole.
    assert max(per_request[1:]) <= 4
    assert type(request.blocks) is BlockView
