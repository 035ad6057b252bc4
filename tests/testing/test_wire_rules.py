"""One row for each rule on each wire form: where it comes from, that a good request passes, and no mutant does."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from checks.tally import count
from hookagent.testing import StrictServer
from hookagent.testing.wire import CHAT, MESSAGES, RESPONSES, RULES, Wire, WireError, check_request, source_of
from tests.testing import test_anthropic_messages, test_openai_chat, test_openai_responses

Rows = list[tuple[Any, ...]]
GOOD: dict[Wire, Callable[[], dict[str, Any]]] = {
    MESSAGES: test_anthropic_messages.good_messages,
    RESPONSES: test_openai_responses.good_responses,
    CHAT: test_openai_chat.good_chat,
}
MUTANTS: dict[Wire, Rows] = {
    MESSAGES: test_anthropic_messages.MUTANTS,
    RESPONSES: test_openai_responses.MUTANTS,
    CHAT: test_openai_chat.MUTANTS,
}
SIGNERS = {MESSAGES: test_anthropic_messages.SIGNER, RESPONSES: test_openai_responses.SIGNER, CHAT: None}
PATHS = {MESSAGES: "/v1/messages", RESPONSES: "/v1/responses", CHAT: "/v1/chat/completions"}
WIRES = pytest.mark.parametrize("wire", list(GOOD))
TABLE = [(rule, wire) for rule, entry in RULES.items() for wire in entry.wires]
WANTED = (
    "thinking-signature thinking-changed reasoning-missing reasoning-alone tool-name tool-schema arguments json-value "
    "json-text output-limit call-unanswered result-orphaned result-late result-duplicate result-misplaced unknown-role "
    "blank-text last-turn"
)


@pytest.mark.parametrize(("rule", "wire"), TABLE, ids=[f"{rule}-{wire}" for rule, wire in TABLE])
def test_a_rule_has_its_source_and_refuses_its_mutants(
    rule: str, wire: Wire, edited: Callable[..., dict[str, Any]]
) -> None:
    rows = [row for row in MUTANTS[wire] if row[0] == rule]
    host = "platform.claude.com" if wire == MESSAGES else "developers.openai.com"

    assert source_of(rule, wire).startswith(f"https://{host}/")
    check_request(wire, GOOD[wire](), signer=SIGNERS[wire])
    assert rows
    for _, index, *edits in rows:
        with pytest.raises(WireError) as caught:
            check_request(wire, edited(GOOD[wire](), edits), signer=SIGNERS[wire])
        assert (caught.value.rule, caught.value.index) == (rule, index)
    count("wire rules")


def test_the_rules_that_matter_most_are_there() -> None:
    assert set(WANTED.split()) <= set(RULES)


@WIRES
def test_a_rule_has_no_source_where_it_does_not_hold(wire: Wire) -> None:
    others = [rule for rule, entry in RULES.items() if wire not in entry.wires]

    assert others
    for rule in others:
        with pytest.raises(KeyError, match=rule):
            source_of(rule, wire)


@WIRES
@pytest.mark.parametrize("stream", [True, False])
def test_the_server_refuses_every_mutant_with_400_that_names_rule_and_index(
    wire: Wire, stream: bool, edited: Callable[..., dict[str, Any]]
) -> None:
    with StrictServer([]) as server, httpx2.Client(base_url=server.url) as client:
        for rule, index, *edits in MUTANTS[wire]:
            body = edited(copy.deepcopy(GOOD[wire]()), edits)
            if "stream_options" not in body and ("stream",) not in [edit[1] for edit in edits]:
                body["stream"] = stream
            data = json.dumps(body).encode()
            is_json = not any(word in data for word in (b"NaN", b"Infinity")) or rule != "json-value"
            if rule == "json-value" and is_json:
                continue  # a key that is no text: what is sent is one
            headers = {"authorization": "Bearer k", "anthropic-version": "2026-10-21"}
            answer = client.post(PATHS[wire], content=data, headers=headers)
            error = answer.json()["error"]

            assert answer.status_code == 400, (rule, error)
            if not is_json:
                assert "not strict JSON" in error["message"]
            elif wire == MESSAGES:
                assert (answer.json()["type"], error["type"]) == ("error", "invalid_request_error")
                assert rule in error["message"]
            else:
                assert (error["type"], error["code"]) == ("invalid_request_error", rule)
                field = "messages" if wire == CHAT else "input"
                assert error["param"] == (None if index is None else f"{field}[{index}]")
        assert server.failures == []
        assert {refusal.rule for refusal in server.refused} >= {row[0] for row in MUTANTS[wire]} - {"json-value"}
