"""The transcript as a value: it grows by three operations, old snapshots fork, and a round closes by itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookagent.messages import AssistantMessage, TextPart, ToolCall, ToolResult, UserMessage
from hookagent.transcript import ToolRound, Transcript, TranscriptError


def call(call_id: str) -> ToolCall:
    return ToolCall(call_id, "tool", None, "{}")


def reply(*ids: str, text: str = "") -> AssistantMessage:
    return AssistantMessage(((TextPart(text),) if text else ()) + tuple(call(one) for one in ids))


def flat(transcript: Transcript) -> list[str]:
    out = []
    for message in transcript.messages():
        if isinstance(message, UserMessage):
            out.append(f"U:{message.text}")
        elif isinstance(message, ToolResult):
            out.append(f"R:{message.call_id}")
        else:
            out.append("A:" + ",".join(one.id for one in message.tool_calls) + message.text)
    return out


def test_results_stand_in_call_order_however_they_come() -> None:
    grown = Transcript().with_user(UserMessage("go")).with_reply(reply("a", "b", "c"))
    for one in ("c", "a", "b"):
        assert grown.open_round is not None
        grown = grown.with_result(ToolResult("x", call_id=one))
    assert grown.open_round is None
    assert flat(grown) == ["U:go", "A:a,b,c", "R:a", "R:b", "R:c"]


def test_a_message_while_a_round_is_open_is_held_behind_its_last_result() -> None:
    grown = Transcript().with_user(UserMessage("go")).with_reply(reply("a", "b"))
    grown = grown.with_user(UserMessage("first")).with_result(ToolResult("x", call_id="b"))
    grown = grown.with_user(UserMessage("second"))
    assert [one.text for one in grown.held] == ["first", "second"]
    grown = grown.with_result(ToolResult("x", call_id="a"))
    assert flat(grown) == ["U:go", "A:a,b", "R:a", "R:b", "U:first", "U:second"]
    assert grown.held == ()


@pytest.mark.parametrize(
    ("grow", "says"),
    [
        (lambda t: t.with_result(ToolResult("x", call_id="a")), "no call waits"),
        (lambda t: t.with_reply(reply("a")).with_result(ToolResult("x", call_id="z")), "no open call has the id 'z'"),
        (lambda t: t.with_reply(reply("a")).with_reply(reply(text="x")), "cannot be added while tool calls wait"),
        (lambda t: t.with_reply(reply("a", "a")), "all different"),
        (lambda t: t.with_reply(reply("")), "all different"),
        (
            lambda t: (
                t.with_reply(reply("a", "b"))
                .with_result(ToolResult("x", call_id="a"))
                .with_result(ToolResult("y", call_id="a"))
            ),
            "already has its result",
        ),
        (lambda t: Transcript([ToolRound(reply("a"), (None,))]), "closed blocks"),
        (lambda t: Transcript([reply("a")]), "stands in a ToolRound"),
    ],
)
def test_what_would_break_the_order_is_refused(grow, says: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(TranscriptError, match=says):
        grow(Transcript().with_user(UserMessage("go")))


Step = tuple[str, int]
kinds = st.sampled_from(["user", "reply", "calls", "result", "back"])
steps = st.lists(st.tuples(kinds, st.integers(0, 9)), max_size=40)


@given(steps)
def test_growing_an_old_snapshot_forks_and_never_overwrites(script: list[Step]) -> None:
    """Every snapshot ever taken stays what it was, whatever is grown from it or from others later."""
    snapshots: list[tuple[Transcript, list[str]]] = [(Transcript(), [])]
    current = Transcript()
    for number, (what, pick) in enumerate(script):
        if what == "back":
            current = snapshots[pick % len(snapshots)][0]
            continue
        open_round = current.open_round
        if what == "user":
            current = current.with_user(UserMessage(f"{number}"))
        elif what in ("reply", "calls") and open_round is None:
            ids = [f"c{number}.{index}" for index in range(1 + pick % 3)] if what == "calls" else []
            current = current.with_reply(reply(*ids, text="" if ids else f"r{number}"))
        elif what == "result" and open_round is not None:
            waiting = open_round.open_calls
            current = current.with_result(ToolResult("x", call_id=waiting[pick % len(waiting)].id))
        snapshots.append((current, flat(current)))
        for transcript, words in snapshots:
            assert flat(transcript) == words


@given(steps)
def test_the_derived_list_always_keeps_the_order(script: list[Step]) -> None:
    """Behind a reply with calls come results of exactly those calls, in call order, before anything else."""
    current = Transcript()
    for number, (what, pick) in enumerate(script):
        open_round = current.open_round
        if what == "user":
            current = current.with_user(UserMessage(f"{number}"))
        elif what in ("reply", "calls") and open_round is None:
            ids = [f"c{number}.{index}" for index in range(1 + pick % 3)] if what == "calls" else []
            current = current.with_reply(reply(*ids, text="" if ids else "r"))
        elif what == "result" and open_round is not None:
            waiting = open_round.open_calls
            current = current.with_result(ToolResult("x", call_id=waiting[pick % len(waiting)].id))
    messages = list(current.messages())
    for index, message in enumerate(messages):
        if isinstance(message, AssistantMessage) and message.tool_calls:
            wanted = [one.id for one in message.tool_calls]
            behind = messages[index + 1 : index + 1 + len(wanted)]
            answered = [one.call_id for one in behind if isinstance(one, ToolResult)]
            if current.open_round is not None and message is current.open_round.reply:
                assert answered == [one for one in wanted if one in answered]
            else:
                assert answered == wanted


def test_growing_the_newest_snapshot_shares_the_log() -> None:
    """A snapshot costs the same at any length: nothing is copied while only the newest one grows."""
    current = Transcript()
    logs = set()
    for number in range(100):
        current = current.with_user(UserMessage(str(number)))
        logs.add(id(current._log))
    assert len(logs) == 1


def test_a_snapshot_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Transcript().open_round = None  # type: ignore[misc]
    with pytest.raises(AttributeError):
        UserMessage("x").text = "y"  # type: ignore[misc]
