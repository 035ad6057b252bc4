from __future__ import annotations

from typing import Any

from hookagent.frozen import FrozenDict
from hookagent.messages import AssistantMessage, ToolCall, ToolResult, UserMessage
from hookagent.providers.call_ids import FreshIds, known_call_ids
from hookagent.transcript import Transcript


def with_call(transcript: Transcript, call_id: str) -> Transcript:
    reply = AssistantMessage((ToolCall(call_id, "t", FrozenDict()),), "tool_calls")
    return transcript.with_reply(reply).with_result(ToolResult("ok", call_id=call_id))


def test_only_what_was_added_is_counted() -> None:
    class Counting(Transcript):
        __slots__ = ()
        looked_at = 0

        def __getitem__(self, index: Any) -> Any:
            type(self).looked_at += 1
            return super().__getitem__(index)

    transcript: Transcript = Counting([UserMessage("go")])
    costs = []
    for number in range(50):
        transcript = with_call(transcript, f"c{number}")
        Counting.looked_at = 0
        assert f"c{number}" in known_call_ids(transcript).index_of
        costs.append(Counting.looked_at)
    assert max(costs[1:]) == costs[1]


def test_forks_and_old_snapshots_are_counted_anew() -> None:
    start = with_call(Transcript([UserMessage("go")]), "a")
    left = with_call(start, "left")
    right = with_call(start, "right")
    assert set(known_call_ids(left).index_of) == {"a", "left"}
    assert set(known_call_ids(right).index_of) == {"a", "right"}
    assert set(known_call_ids(start).index_of) == {"a"}
    assert set(known_call_ids(left).index_of) == {"a", "left"}


def test_repeats_in_a_conversation_are_known() -> None:
    transcript = with_call(with_call(Transcript([UserMessage("go")]), "a"), "a")
    assert known_call_ids(transcript).repeated == [("a", 1, 2)]


def test_fresh_ids_are_given_only_where_needed() -> None:
    fresh = FreshIds(with_call(Transcript([UserMessage("go")]), "a"))
    given = [fresh.give(wanted) for wanted in ("a", "b", "b", "", None, " ")]
    assert given[1] == "b"
    assert len(set(given)) == 6
    assert "a" not in given
