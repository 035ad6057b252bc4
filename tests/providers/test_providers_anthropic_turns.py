"""What only the Anthropic wire form has: merged turns, server tools, thinking, marks for the prompt cache."""

from __future__ import annotations

import json
from typing import Any

from hookagent.frozen import freeze
from hookagent.messages import AssistantMessage, ProviderPart, TextPart, ToolCall, ToolResult, UserMessage
from hookagent.transcript import Transcript


def reply(*calls: ToolCall, text: str = "", **fields: Any) -> AssistantMessage:
    parts = ((TextPart(text),) if text else ()) + calls
    return AssistantMessage(parts, "tool_calls" if calls else "end", **fields)


def call(call_id: str = "c1", name: str = "t", **arguments: Any) -> ToolCall:
    return ToolCall(call_id, name, freeze(arguments))


def checked(wire: Any, request: Any) -> Any:
    body = wire.body(request)
    wire.check_own(body, request)
    wire.check_kit({**json.loads(json.dumps(body)), "stream": True})
    return body[wire.list_field]


def test_cache_marks_move_with_the_tail_and_stay_within_four(wires: Any, make_request: Any, tool: Any) -> None:
    wire = wires["anthropic"]
    transcript = Transcript([UserMessage("go")])
    for number in range(6):
        transcript = transcript.with_reply(reply(call(f"c{number}")))
        transcript = transcript.with_result(ToolResult("found", call_id=f"c{number}"))
        request = make_request(transcript, system="s", tools=(tool(),)).with_note("passing")
        checked(wire, request)
        body = wire.body(request)
        marked = [i for i, m in enumerate(body["messages"]) for block in m["content"] if "cache_control" in block]
        last = len(body["messages"]) - 1
        assert marked == [last - 2, last]
        assert "cache_control" not in body["messages"][-1]["content"][-1]
        assert json.dumps(body).count('"cache_control"') == 4
    assert all("cache_control" not in json.dumps(block.wire_cache) for block in transcript)


def test_paused_turns_in_a_row_are_one_turn(wires: Any, make_request: Any) -> None:
    used = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    paused = AssistantMessage((ProviderPart("anthropic-messages", "item", freeze(used)),), "pause")
    done = AssistantMessage((ProviderPart("anthropic-messages", "item", freeze(found)), TextPart("done")))
    grown = Transcript([UserMessage("go"), paused, done, UserMessage("thanks")])
    messages = checked(wires["anthropic"], make_request(grown))
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]
    kinds = [block["type"] for block in messages[1]["content"]]
    assert kinds == ["server_tool_use", "web_search_tool_result", "text"]
    halved = make_request(grown, protected=(0, 3)).dropping_before(2)
    assert [block["type"] for block in checked(wires["anthropic"], halved)[1]["content"]] == ["text"]


def test_a_paused_turn_that_did_not_go_on_loses_the_calls_that_were_never_answered(
    wires: Any, make_request: Any
) -> None:
    used = ProviderPart(
        "anthropic-messages",
        "item",
        freeze({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}),
    )
    for parts, left in (((TextPart("searching"), used), "searching"), ((used,), "(interrupted)")):
        grown = Transcript([UserMessage("go"), AssistantMessage(parts, "pause"), UserMessage("stop that")])
        messages = checked(wires["anthropic"], make_request(grown))
        assert messages[1]["content"] == [{"type": "text", "text": left}]


def test_a_server_call_beside_our_own_is_answered_behind_our_results(wires: Any, make_request: Any) -> None:
    def item(**data: Any) -> ProviderPart:
        return ProviderPart("anthropic-messages", "item", freeze(data))

    used = item(type="server_tool_use", id="srvtoolu_1", name="web_search", input={})
    found = item(type="web_search_tool_result", tool_use_id="srvtoolu_1", content=[])
    asked = AssistantMessage((used, call("c1")), "tool_calls")
    grown = Transcript([UserMessage("go")]).with_reply(asked).with_result(ToolResult("ok", call_id="c1"))
    assert "srvtoolu_1" in json.dumps(checked(wires["anthropic"], make_request(grown)))
    later = grown.with_reply(AssistantMessage((found, TextPart("done")))).with_user(UserMessage("thanks"))
    assert json.dumps(checked(wires["anthropic"], make_request(later))).count("srvtoolu_1") == 2
    unanswered = grown.with_reply(AssistantMessage((TextPart("done"),))).with_user(UserMessage("thanks"))
    assert "srvtoolu_1" not in json.dumps(checked(wires["anthropic"], make_request(unanswered)))


def test_thinking_is_off_within_a_round_that_began_without_it(wires: Any, make_request: Any) -> None:
    settings = {"max_output_tokens": 4000, "anthropic": {"thinking": {"type": "enabled", "budget_tokens": 1024}}}
    signed = ProviderPart(
        "anthropic-messages", "thinking", freeze({"type": "thinking", "thinking": "hm", "signature": "s"})
    )
    whole = AssistantMessage((signed, call("c1")), "tool_calls")
    for message, is_on in ((whole, True), (whole.changed(text="changed by a plugin"), False)):
        grown = Transcript([UserMessage("go")]).with_reply(message).with_result(ToolResult("ok", call_id="c1"))
        request = make_request(grown, settings=settings)
        checked(wires["anthropic"], request)
        assert ("thinking" in wires["anthropic"].body(request, "claude-haiku-4-5")) is is_on
    done = grown.with_reply(reply(text="done")).with_user(UserMessage("next"))
    assert "thinking" in wires["anthropic"].body(make_request(done, settings=settings))
