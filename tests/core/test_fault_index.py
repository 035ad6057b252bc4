"""The k-th call of every hook fails in a run that uses everything, for every k.

Each time the outcome is the documented one, the transcript is valid, nothing that a person said is lost or doubled,
the next run completes, and the session on disk is the one in memory. With HOOKAGENT_PROVE every k is tried
everywhere; else every third, or every ninth, of what is counted by the hundred or was tried in the other mode already.
"""

from __future__ import annotations

from typing import Any

import pytest

from hookagent import PluginError, PluginLoadError
from hookagent.contract import CONTRACTS
from hookagent.events import AgentEnd, HookReport, TurnEnd
from hookagent.messages import ToolResult
from tests.core.fault_checks import (
    MODES,
    SAMPLE,
    THIRD,
    check_whatever_failed,
    every,
    failed_by,
    strike,
    went_on,
)
from tests.core.faulty_plugin import Faults
from tests.core.reference_run import LAST_PROMPT, PROMPTS, Seen
from tests.core.scripts import words

STOPPING = [hook for hook in CONTRACTS if hook not in ("register_tools", "on_session_end", "on_complete", "on_event")]
KINDS = [*STOPPING, "wrap_model_call, behind", "wrap_tool_call, behind"]
GATES = ("before_tools", "before_each_tool", "resolve_suspended")


@pytest.mark.parametrize("mode", MODES)
def test_with_nothing_failing_it_reaches_everything(reference: dict[str, Seen], mode: str) -> None:
    seen = reference[mode]
    went_on(seen)
    check_whatever_failed(seen)
    assert seen.warnings == []
    assert seen.said == ["afterwards", "first task", "steered", "one more", "second task", LAST_PROMPT]
    counts = seen.faults.counts
    assert {hook for hook in CONTRACTS if not counts[hook]} == set()
    assert (counts["model"], counts["tool"], counts["on_complete"]) == (12, 11, 3)
    assert counts["listener"] == 2 * counts["on_event"]
    assert counts["write"] > 60
    assert counts["open"] == 1
    assert words(seen.agent.transcript) == words(reference["parallel"].agent.transcript)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_kth_call_of_a_hook_fails(reference: dict[str, Seen], kind: str, mode: str) -> None:
    hook = kind.partition(",")[0]

    def check(seen: Seen) -> None:
        raised = failed_by(hook, seen)
        result, about = seen.end[0], seen.faults.about
        lost = [about["message"].text] if hook == "after_user_input" else []
        if hook == "on_session_start":
            lost = [PROMPTS[0]]
        assert [one.text for one in result.not_stored] == lost
        results = {one.call_id: one for one in seen.agent.transcript.messages() if isinstance(one, ToolResult)}
        if hook in GATES:
            calls = about.get("tool_calls") or [
                about["tool_call"] if "tool_call" in about else about["pending"][0].call
            ]
            for call in calls:
                assert results[call.id].status == "not_run"
                assert str(raised) in results[call.id].content
                assert call.id not in seen.ran
        if hook == "wrap_tool_call":
            call_id = about["tool_call"].id
            assert (results[call_id].status, results[call_id].error_type) == ("error", "PluginError")
            assert str(raised) in results[call_id].content
            assert (call_id in seen.ran) == (kind != hook)

    many = reference[mode].faults.counts[kind] > 2 * THIRD
    every(reference, kind, check, mode=mode, stride=THIRD if mode == "sequential" and many else 1)


@pytest.mark.parametrize("mode", MODES)
def test_the_kth_end_of_a_turn_fails_in_a_plugin(reference: dict[str, Seen], mode: str) -> None:
    def check(seen: Seen) -> None:
        went_on(seen)
        errors = [error for result, _ in seen.ends for error in result.errors]
        assert len(errors) == 1
        assert errors[0].startswith("plugin 'faulty': hook 'on_complete' raised ValueError: struck (")

    every(reference, "on_complete", check, mode=mode)


@pytest.mark.parametrize("mode", MODES)
def test_the_kth_event_fails_in_a_plugin(reference: dict[str, Seen], mode: str) -> None:
    listed = 0

    def check(seen: Seen) -> None:
        nonlocal listed
        event = seen.faults.about["event"]
        errors = [error for result, _ in seen.ends for error in result.errors]
        # Too late to change the turn is what comes with its end being announced.
        assert bool(errors) == _announces_the_end(event, seen)
        if not errors:
            failed_by("on_event", seen)
            return
        listed += 1
        assert len(errors) == 1
        assert errors[0].startswith("plugin 'faulty': hook 'on_event' raised ValueError: struck (")
        if event.turn > 1:
            went_on(seen)
            return
        # Another turn is due then, and does not begin.
        result, raised = seen.end
        assert isinstance(raised, PluginError)
        assert (result.status, str(raised)) == ("completed", errors[0])

    every(reference, "on_event", check, mode=mode, stride=THIRD if mode == "parallel" else SAMPLE)
    assert listed


def _announces_the_end(event: Any, seen: Seen) -> bool:
    announced = [
        one.number
        for one in seen.agent.session.trace
        if isinstance(one, HookReport) and one.hook == "on_complete" and one.turn == event.turn
    ]
    return isinstance(event, TurnEnd | AgentEnd) or any(event.number >= number for number in announced)


def test_the_end_of_the_session_fails_in_a_plugin(reference: dict[str, Seen]) -> None:
    def check(seen: Seen) -> None:
        went_on(seen)
        assert isinstance(seen.closing, PluginError)
        assert str(seen.closing).startswith("plugin 'faulty': hook 'on_session_end' raised ValueError: struck (")
        assert seen.neighbour.names.count("on_session_end") == 1

    every(reference, "on_session_end", check)


def test_no_agent_is_made_when_tools_cannot_be_registered(reference: dict[str, Seen]) -> None:
    with pytest.raises(PluginLoadError, match="plugin 'faulty': hook 'register_tools' raised ValueError: struck"):
        strike(Faults("register_tools", 1))
