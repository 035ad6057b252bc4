from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hookagent.errors import RequestRefusedError
from hookagent.frozen import FrozenDict
from hookagent.messages import AssistantMessage, TextPart, ToolCall, ToolResult, UserMessage
from hookagent.providers.wire import check_request
from hookagent.requests import BlockView, Note, Request
from hookagent.tools.tool import Tool
from hookagent.transcript import ToolRound, Transcript

NOT_TEXT: Any = Note("")
object.__setattr__(NOT_TEXT, "text", 3)


def transcript() -> Transcript:
    grown = Transcript([UserMessage("task")])
    for number in range(3):
        call = ToolCall(f"c{number}", "t", FrozenDict())
        grown = grown.with_reply(AssistantMessage((call,), "tool_calls"))
        grown = grown.with_result(ToolResult(f"result {number}", call_id=call.id))
    return grown.with_reply(AssistantMessage((TextPart("done"),))).with_user(UserMessage("next"))


def request(**fields: Any) -> Request:
    return Request(fields.pop("blocks", BlockView(transcript())), protected=(0, 5), shaped_by="shaper", **fields)


def tool_named(name: Any) -> Any:
    made = Tool.from_callable(transcript, name="made")
    object.__setattr__(made, "name", name)
    return made


def rule_of(refused: Request) -> str:
    with pytest.raises(RequestRefusedError, match="plugin 'shaper'") as raised:
        check_request(refused)
    return raised.value.rule


def test_what_the_methods_of_a_request_make_is_accepted() -> None:
    good = request().dropping_before(3).with_summary("so far").with_result_text(3, "c2", "shorter").with_note("hurry")
    check_request(good)
    check_request(request())


def test_an_open_round_is_not_sent() -> None:
    call = ToolCall("c1", "t", FrozenDict())
    waiting = Transcript([UserMessage("task")]).with_reply(AssistantMessage((call,), "tool_calls"))
    assert rule_of(replace(request(), blocks=BlockView(waiting), protected=(0,))) == "open_round"


@pytest.mark.parametrize(("start", "kept"), [(-1, ()), (7, ()), (3, (0, 3)), (3, (1, 0)), (3, (0, 0)), (3, (-1, 0))])
def test_a_window_that_cannot_be_is_refused(start: int, kept: tuple[int, ...]) -> None:
    assert rule_of(request(blocks=BlockView(transcript(), start, kept))) == "window"


def test_the_first_task_and_the_newest_user_message_cannot_be_dropped() -> None:
    assert rule_of(request(blocks=BlockView(transcript(), 2))) == "protected"
    with pytest.raises(RequestRefusedError, match="the newest user message"):
        check_request(request(blocks=BlockView(transcript(), 6, (0,))))


def test_only_a_result_text_can_be_replaced() -> None:
    base = transcript()
    original = base[2]
    assert isinstance(original, ToolRound)
    call = ToolCall("c1", "other", FrozenDict())
    bad: list[Any] = [
        UserMessage("instead"),
        ToolRound(AssistantMessage((call,), "tool_calls"), original.results),
        ToolRound(original.reply, (None,)),
        ToolRound(original.reply, (ToolResult("x", call_id="c9"),)),
        ToolRound(original.reply, (ToolResult("x", is_error=True, call_id="c1"),)),
        ToolRound(original.reply, ()),
    ]
    for stand_in in bad:
        assert rule_of(request(blocks=BlockView(base, replaced={2: stand_in}))) == "replaced"
    assert rule_of(request(blocks=BlockView(base, replaced={0: original}))) == "replaced"
    assert rule_of(request(blocks=BlockView(base, replaced={99: original}))) == "replaced"
    check_request(request(blocks=BlockView(base, replaced={2: original.with_result_text("c1", "short")})))


def test_a_stand_in_checked_for_one_round_is_not_taken_for_another() -> None:
    base = transcript()
    second = base[2]
    assert isinstance(second, ToolRound)
    stand_in = second.with_result_text("c1", "short")
    check_request(request(blocks=BlockView(base, replaced={2: stand_in})))
    assert rule_of(request(blocks=BlockView(base, replaced={3: stand_in}))) == "replaced"


def test_who_offers_a_function_is_told_how_to_make_a_tool_of_it() -> None:
    with pytest.raises(RequestRefusedError, match=r"a tool is a function, not a Tool; make one with Tool\.from_call"):
        check_request(request().with_tools([transcript]))  # type: ignore[list-item]


def test_an_empty_prompt_is_refused_in_plain_words() -> None:
    for blocks in (Transcript(), Transcript([UserMessage(" \n")])):
        with pytest.raises(RequestRefusedError, match="the prompt is empty"):
            check_request(Request(BlockView(blocks)))


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"blocks": [UserMessage("x")]}, "blocks"),
        ({"summary": 3}, "summary"),
        ({"notes": ("text",)}, "notes"),
        ({"notes": (NOT_TEXT,)}, "notes"),
        ({"settings": [("temperature", 1)]}, "settings"),
        ({"tool_choice": "sometimes"}, "tool_choice"),
        ({"tools": (tool_named("a b"),)}, "tools"),
        ({"tools": (tool_named("a"), tool_named("a"))}, "tools"),
        ({"tools": (transcript,)}, "tools"),
        ({"tools": (tool_named(5),)}, "tools"),
    ],
)
def test_each_other_rule(fields: dict[str, Any], rule: str) -> None:
    assert rule_of(request(**fields)) == rule


def test_the_check_does_not_walk_the_transcript() -> None:
    class Counting(Transcript):
        __slots__ = ()
        looked_at = 0

        def __getitem__(self, index: Any) -> Any:
            type(self).looked_at += 1
            return super().__getitem__(index)

        def __iter__(self) -> Any:
            for block in super().__iter__():
                type(self).looked_at += 1
                yield block

    for length in (10, 1000):
        Counting.looked_at = 0
        blocks: list[Any] = [UserMessage("task"), *[AssistantMessage((TextPart("x"),))] * length, UserMessage("next")]
        check_request(Request(BlockView(Counting(blocks)), protected=(0, length + 1)))
        assert Counting.looked_at <= 3
