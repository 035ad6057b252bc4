"""The k-th model call, tool, listener call or write to disk fails in a run that uses everything, for every k.

What holds each time is in `fault_checks`; how often each is tried, in `test_fault_index`.
"""

from __future__ import annotations

import collections
import sqlite3
from collections.abc import Callable

import pytest

from hookagent import ProviderError
from hookagent.events import Retry
from hookagent.messages import ToolResult
from tests.core.fault_checks import (
    MODES,
    SAMPLE,
    THIRD,
    check_beginning_brought_back,
    check_conversation,
    every,
    went_on,
)
from tests.core.reference_run import Seen
from tests.core.scripts import words

FULL = "database or disk is full"


# ---- the model ----


def overloaded() -> ProviderError:
    return ProviderError("overloaded", "scripted", "too much to do")


def test_the_kth_model_call_fails_and_is_tried_again(reference: dict[str, Seen]) -> None:
    def check(seen: Seen) -> None:
        went_on(seen)
        assert words(seen.agent.transcript) == words(reference["parallel"].agent.transcript)
        assert sum(type(event) is Retry for event in seen.agent.session.trace) == 1

    every(reference, "model", check, overloaded)


@pytest.mark.parametrize("kind", ["model", "delta"])
@pytest.mark.parametrize(
    ("error", "reason", "error_kind"),
    [
        (lambda: ProviderError("authentication", "scripted", "no key"), "scripted: no key", "authentication"),
        (lambda: ValueError("struck"), "scripted:script: raised ValueError: struck", None),
        (overloaded, "scripted: too much to do", "overloaded"),
    ],
)
def test_the_kth_model_call_or_piece_of_a_reply_fails_for_good(
    reference: dict[str, Seen], kind: str, error: Callable[[], BaseException], reason: str, error_kind: str | None
) -> None:
    retried = kind == "model" and error is overloaded

    def check(seen: Seen) -> None:
        result, raised = seen.end
        assert raised is None
        assert (result.status, result.reason, result.error_kind) == ("failed", reason, error_kind)
        # A retry that fails on and on is given up; and what somebody heard a piece of is not asked for again.
        assert seen.faults.struck == (4 if retried else 1)

    every(reference, kind, check, error, lasting=retried)


# ---- tools ----


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("error", "name"), [(lambda: ValueError("struck"), "ValueError"), (SystemExit, "SystemExit")])
def test_the_kth_tool_fails(
    reference: dict[str, Seen], error: Callable[[], BaseException], name: str, mode: str
) -> None:
    def check(seen: Seen) -> None:
        went_on(seen)
        call_id = seen.faults.about
        expected = [
            f"R {call_id} error" if one.startswith(f"R {call_id} ") else one
            for one in words(reference[mode].agent.transcript)
        ]
        assert words(seen.agent.transcript) == expected
        found = [one for one in seen.agent.transcript.messages() if isinstance(one, ToolResult)]
        assert [one.error_type for one in found if one.call_id == call_id] == [name]
        told = [given["tool_call"].id for hook, given in seen.neighbour.calls if hook == "on_error"]
        assert sorted(told) == sorted({"c3", "c10", call_id})

    every(reference, "tool", check, error, mode=mode)


# ---- listeners ----


def test_the_kth_call_of_a_listener_fails(reference: dict[str, Seen]) -> None:
    def check(seen: Seen) -> None:
        went_on(seen)
        assert words(seen.agent.transcript) == words(reference["parallel"].agent.transcript)
        assert len(seen.warnings) == 1
        assert seen.faults.about in seen.warnings[0]
        assert seen.warnings[0].endswith("raised ValueError: struck")

    every(reference, "listener", check, stride=SAMPLE)


def test_listeners_that_fail_from_the_kth_call_on_are_dropped(reference: dict[str, Seen]) -> None:
    def check(seen: Seen) -> None:
        went_on(seen)
        assert words(seen.agent.transcript) == words(reference["parallel"].agent.transcript)
        faults = collections.Counter(name for text in seen.warnings for name in _named(text))
        assert max(faults.values()) <= 3
        assert sum(faults.values()) == seen.faults.struck

    every(reference, "listener", check, stride=4 * SAMPLE, lasting=True)


def _named(text: str) -> list[str]:
    return [name for name in ("first_listener", "second_listener") if f"{name}' raised" in text]


# ---- what is written ----


def disk_full() -> sqlite3.OperationalError:
    return sqlite3.OperationalError(FULL)


@pytest.mark.parametrize("lasting", [False, True])
@pytest.mark.parametrize("kind", ["write", "open"])
def test_the_kth_write_fails_once_or_until_there_is_room_again(
    reference: dict[str, Seen], kind: str, lasting: bool
) -> None:
    def check(seen: Seen) -> None:
        went_on(seen)
        assert words(seen.agent.transcript) == words(reference["parallel"].agent.transcript)
        assert len(seen.warnings) == 1
        assert f"sessions.sqlite: {FULL}; the run goes on" in seen.warnings[0]

    every(reference, kind, check, disk_full, stride=THIRD if kind == "write" else 1, lasting=lasting)


def test_from_the_kth_write_on_there_is_never_room_again(reference: dict[str, Seen]) -> None:
    def check(seen: Seen) -> None:
        went_on(seen)
        assert words(seen.agent.transcript) == words(reference["parallel"].agent.transcript)
        assert FULL in seen.warnings[0]
        check_conversation(seen)
        check_beginning_brought_back(seen)

    every(reference, "write", check, disk_full, stride=THIRD, forever=True, check_all=lambda seen: None)
