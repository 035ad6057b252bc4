"""Short records by letter, what is restored of them, and the rule that every transcript keeps."""

from __future__ import annotations

from typing import Any

from hookagent.limits import Limits
from hookagent.messages import AssistantMessage, TextPart, ToolResult, UserMessage
from hookagent.sessions.open_calls import OpenCall
from hookagent.sessions.record_kinds import (
    Record,
    ReplyRecord,
    ResultRecord,
    StartRecord,
    UserRecord,
    WaitingRecord,
)
from hookagent.sessions.records import StoredRecord, encode_record
from hookagent.sessions.restore import Restored, restore
from hookagent.transcript import ToolRound, Transcript
from hookagent.verdicts import Suspend
from tests.sessions.made import look


def U(text: str, **fields: Any) -> UserRecord:
    return UserRecord(UserMessage(text, **fields))


def A(text: str, *calls: str, **fields: Any) -> ReplyRecord:
    parts = ((TextPart(text),) if text else ()) + tuple(look(one) for one in calls)
    return ReplyRecord(AssistantMessage(parts, **fields))


def R(call_id: str, content: str = "seen") -> ResultRecord:
    return ResultRecord(ToolResult(content, call_id=call_id))


def S(call_id: str) -> StartRecord:
    return StartRecord(look(call_id))


def W(*call_ids: str, suspended: bool = True, **fields: Any) -> WaitingRecord:
    verdict = Suspend("may it?") if suspended else None
    return WaitingRecord(tuple(OpenCall(look(one), look(one), verdict, "gate", **fields) for one in call_ids))


def stored(*records: Record) -> list[StoredRecord]:
    return [StoredRecord(number, 1.0, *encode_record(record, number * 10)) for number, record in enumerate(records, 1)]


def back(*records: Record) -> Restored:
    restored = restore(stored(*records), Limits())
    check_transcript(restored.state.transcript)
    return restored


def check_transcript(transcript: Transcript) -> None:
    """The rule, without the product's own code: the results of exactly a reply's calls stand behind it, in order."""
    waiting: list[str] = []
    seen: set[str] = set()
    for message in transcript.messages():
        if isinstance(message, ToolResult):
            assert waiting, "a result without a call"
            if transcript.open_round is None:
                assert message.call_id == waiting.pop(0)
            else:
                waiting.remove(message.call_id)
        else:
            assert not waiting or transcript.open_round is not None
            if isinstance(message, AssistantMessage):
                waiting = [call.id for call in message.tool_calls]
                assert not seen & set(waiting)
                assert len(set(waiting)) == len(waiting)
                seen.update(waiting)
    if transcript.open_round is None:
        assert not waiting
        again = Transcript(list(transcript))
        assert again == transcript
    blocks = list(transcript)
    if blocks or transcript.open_round is not None:
        assert blocks
        assert isinstance(blocks[0], UserMessage)
    assert all(block.closed for block in blocks if isinstance(block, ToolRound))
