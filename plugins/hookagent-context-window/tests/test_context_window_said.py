"""What is logged and counted, word by word, and when it is said again."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

from hookagent import (
    AssistantMessage,
    BlockView,
    ProviderError,
    Request,
    TextPart,
    ToolCall,
    Transcript,
    Usage,
    UserMessage,
    freeze,
)
from hookagent_context_window import ContextWindow
from hookagent_context_window.session_window import SessionWindow

LOGGER = "hookagent.context"


def kept_with(**options: Any) -> SessionWindow:
    return SessionWindow(ContextWindow.Options(**options))


def request_with(transcript: Transcript, **fields: Any) -> Request:
    return Request(BlockView(transcript), **fields)


def messages(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records]


def test_a_warning_is_said_once_until_it_is_no_longer_so(caplog: pytest.LogCaptureFixture) -> None:
    kept = kept_with(window=1_000)
    kept.say("one", "first")
    kept.say("one", "again")
    kept.say("two", "second")
    kept.forget("one", "unknown")
    kept.say("one", "third")
    kept.say("two", "never")
    assert messages(caplog) == ["context-window: first", "context-window: second", "context-window: third"]
    assert kept.warnings == 3


@pytest.mark.parametrize(
    ("tokens", "said"), [(799, []), (800, ["80 % full: about 800"]), (1_234, ["123 % full: about 1,234"])]
)
def test_the_window_is_full_from_the_mark_on(tokens: int, said: list[str], caplog: pytest.LogCaptureFixture) -> None:
    kept = kept_with(window=1_000)
    kept.watch(tokens)
    assert messages(caplog) == [f"context-window: the window is {one} of 1,000 tokens" for one in said]
    kept.watch(799)
    kept.watch(900)
    assert kept.warnings == len(said) + 1


def test_nothing_is_full_where_the_window_is_unknown(caplog: pytest.LogCaptureFixture) -> None:
    kept = kept_with()
    kept.watch(10**9)
    assert (messages(caplog), kept.warnings) == ([], 0)


def test_a_smaller_window_is_believed_and_said(caplog: pytest.LogCaptureFixture) -> None:
    kept = kept_with()
    kept.refused(None)
    kept.refused(0)
    kept.refused(5_000)
    kept.refused(5_000)
    kept.refused(6_000)
    kept.refused(4_000)
    assert messages(caplog) == [
        "context-window: the server's window is 5,000 tokens; it was taken for unknown",
        "context-window: the server's window is 4,000 tokens; it was taken for 5,000 tokens",
    ]
    assert kept.window == 4_000


def test_two_useless_tries_and_it_gives_up_until_the_size_changes_much(caplog: pytest.LogCaptureFixture) -> None:
    kept = kept_with(window=10_000)
    kept.useless("it was blank", 900)
    assert (kept.warnings, kept.gave_up(900)) == (1, False)
    kept.useless("it was long", 900)
    assert messages(caplog) == [
        "context-window: no summary: it was blank; the history is sent as it is",
        "context-window: no summary: it was long; the history is sent as it is",
        "context-window: gave up summarizing after 2 useless tries, until the size changes much",
    ]
    assert kept.warnings == 3
    assert [kept.gave_up(tokens) for tokens in (900, 601, 1_349)] == [True, True, True]
    assert not kept.gave_up(1_350)
    assert not kept.gave_up(900)
    # And counts from the start.
    kept.useless("again", 900)
    assert not kept.gave_up(900)
    kept.useless("again", 900)
    assert kept.gave_up(900)
    assert not kept.gave_up(600)


@pytest.mark.parametrize("end", [lambda kept: kept.refused(9_999), lambda kept: kept.compacted("it was", 9, 5)])
def test_a_refusal_and_a_compaction_end_a_row_of_useless_tries(end: Callable[[SessionWindow], None]) -> None:
    kept = kept_with(window=10_000)
    kept.useless("blank", 900)
    end(kept)
    kept.useless("blank", 900)
    assert not kept.gave_up(900)
    kept.useless("blank", 900)
    assert kept.gave_up(900)


def test_after_a_refusal_summaries_are_tried_again() -> None:
    kept = kept_with(window=10_000)
    kept.useless("blank", 900)
    kept.useless("blank", 900)
    assert kept.gave_up(900)
    kept.refused(9_000)
    assert not kept.gave_up(900)
    kept.useless("blank", 900)
    assert not kept.gave_up(900)


def test_a_compaction_is_counted_and_told(caplog: pytest.LogCaptureFixture) -> None:
    kept = kept_with(window=10_000)
    with caplog.at_level(logging.INFO, LOGGER):
        kept.compacted("the oldest blocks were dropped", 9_500, 5_999)
        kept.compacted("again", 1, 0)
    assert messages(caplog)[0] == (
        "context-window: the oldest blocks were dropped: about 9,500 tokens are now 5,999 of 10000"
    )
    assert [record.levelno for record in caplog.records] == [logging.INFO] * 2
    assert (kept.compactions, kept.warnings) == (2, 0)


def test_a_reply_counts_until_it_is_stored() -> None:
    kept = kept_with(window=1_000)
    transcript = Transcript([UserMessage("task")])
    request = request_with(transcript)
    kept._follow(transcript)
    reply = AssistantMessage((TextPart("x" * 84),), usage=Usage())
    kept.answered(request, reply)
    assert kept._reply == 100

    class Stored:
        transcript = request.blocks.transcript

    session: Any = Stored()
    status = kept.status(session)
    assert status is not None
    assert (status.tokens, status.percent) == (30, 3.0)
    Stored.transcript = Transcript([UserMessage("task"), reply])
    status = kept.status(session)
    assert status is not None
    assert status.tokens == 30
    assert (kept.tokens(request), kept.fixed_tokens(request)) == (5, 0)
    assert kept.fixed_tokens(request_with(transcript, system="r" * 400)) == 100
    # A summary is no fixed part.
    assert kept.fixed_tokens(request.with_summary("s" * 84)) == 0


def test_before_the_first_request_there_is_no_status() -> None:
    session: Any = object()
    assert kept_with(window=1_000).status(session) is None


def test_settings_of_a_request_are_no_part_of_its_size() -> None:
    transcript = Transcript([UserMessage("task")])
    kept = kept_with()
    kept._follow(transcript)
    assert kept.tokens(request_with(transcript, settings=freeze({"effort": "low"}))) == 5


def test_a_new_plugin_has_the_default_options_and_no_session() -> None:
    plugin = ContextWindow()
    assert plugin.options == ContextWindow.Options()
    assert (plugin.name, plugin.time_limit) == ("context-window", None)
    given = ContextWindow.Options(window=5)
    assert ContextWindow(given).options is given


@pytest.mark.parametrize(
    ("error", "call", "window"),
    [
        (ProviderError("too_long", "p", "too long", window=500), None, 500),
        (ProviderError("too_long", "p", "too long", window=500), ToolCall("c", "look", None), 1_000),
        (ProviderError("server", "p", "broken", window=500), None, 1_000),
        (ValueError("too_long"), None, 1_000),
    ],
)
def test_only_a_refusal_by_the_models_side_is_believed(error: Exception, call: Any, window: int) -> None:
    class Known:
        id = "s"

    plugin, session = ContextWindow(), Known()
    kept = plugin._sessions["s"] = SessionWindow(ContextWindow.Options(window=1_000))
    plugin.on_error(error, call, session)  # type: ignore[arg-type]
    assert kept.window == window
