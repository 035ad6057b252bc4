"""The ends of a reply and of a call without the model: what the result says, word by word."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hookagent import Deny, Stop, Suspend
from hookagent.events import ErrorEvent
from tests.core.plugin_making import made
from tests.core.scripts import make_agent, words


@pytest.mark.parametrize(
    ("step", "status", "reason", "answer"),
    [
        ({"text": ""}, "failed", "the model gave an empty reply; stop reason: end", ""),
        (
            {"text": " ", "stop": "refusal", "stop_detail": "no"},
            "failed",
            "the model gave an empty reply; stop reason: refusal (no)",
            "",
        ),
        (
            {"text": "Some", "stop": "length"},
            "limit",
            "the answer was cut by the output limit; raise model_settings.max_output_tokens",
            "Some",
        ),
        ({"text": "Some", "stop": "filtered"}, "failed", "the model stopped (filtered)", "Some"),
        (
            {"text": "Some", "stop": "refusal", "stop_detail": "unsafe"},
            "failed",
            "the model stopped (refusal: unsafe)",
            "Some",
        ),
        ({"text": "Some", "stop": "too_long"}, "failed", "the model stopped (too_long)", "Some"),
        ({"text": "Some", "stop": "stop_sequence"}, "completed", "", "Some"),
    ],
)
def test_each_way_in_which_a_reply_ends_is_named(step: dict[str, Any], status: str, reason: str, answer: str) -> None:
    result = make_agent([step]).run_sync("go")
    assert (result.status, result.reason, result.answer) == (status, reason, answer)


def test_an_empty_reply_is_an_error_that_plugins_and_listeners_hear_of() -> None:
    heard: list[tuple[str, Any]] = []
    plugin = made("hears", on_error=lambda error, tool_call: heard.append((str(error), tool_call)))
    agent = make_agent([{"text": ""}], plugin)
    agent.run_sync("go")
    reason = "the model gave an empty reply; stop reason: end"
    assert heard == [(reason, None)]
    [event] = [one for one in agent.session.trace if isinstance(one, ErrorEvent)]
    assert (event[4], event[5], event[6]) == ("model", "scripted", reason)
    assert words(agent.session.transcript) == ["U go"]


def test_a_paused_reply_goes_on_and_the_rest_is_the_answer() -> None:
    agent = make_agent([{"text": "Some", "stop": "pause"}, "more"])
    assert agent.run_sync("go").answer == "more"
    assert words(agent.session.transcript) == ["U go", "A Some", "A more"]


@pytest.mark.parametrize(
    ("verdict", "content", "status"),
    [
        (Stop("enough"), "not run: 'gate' stopped the run: enough", "not_run"),
        (Suspend("sure?"), "not run: nobody answered for it", "denied"),
        (Deny("no"), "denied by 'gate': no", "denied"),
    ],
)
def test_what_keeps_a_direct_call_from_running_is_its_result(verdict: Any, content: str, status: str) -> None:
    agent = make_agent([], made("gate", before_each_tool=lambda tool_call: verdict))
    result = asyncio.run(agent.call_tool("quick", {"n": 3}))
    assert (result.content, result.status, result.is_error) == (content, status, True)
    assert result.call_id
