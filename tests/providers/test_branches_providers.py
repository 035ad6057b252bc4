"""Providers at their edges: what an SDK may raise, what a model may make up, what a script may hold."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from hookagent.errors import ConfigurationError, ProviderError
from hookagent.frozen import FrozenDict
from hookagent.messages import AssistantMessage, TextPart, ToolCall, UserMessage
from hookagent.providers.body_bytes import body_bytes
from hookagent.providers.encoding import UNPARSED, arguments_object, encoded_blocks
from hookagent.providers.failures import provider_error, reported_error
from hookagent.providers.json_schema import closed_schema, takes_strict
from hookagent.providers.refusals import find_unsupported
from hookagent.providers.script_file import read_script
from hookagent.providers.script_steps import read_step
from hookagent.providers.scripted import ScriptedProvider
from hookagent.providers.wire.message import WireMessage
from hookagent.requests import BlockView, Request
from hookagent.transcript import Transcript


class ReadTimeout(Exception):
    """As the HTTP library calls it."""


class RemoteProtocolError(Exception):
    """As the HTTP library calls it."""


@pytest.mark.parametrize(
    ("error", "url", "kind", "says"),
    [
        (ReadTimeout("slow"), "", "timeout", "p: no answer from the server in time: slow"),
        (ReadTimeout("slow"), "http://x", "timeout", "p: no answer from http://x in time: slow"),
        (RemoteProtocolError(), "", "incomplete", "p: the connection broke before the reply was whole: Remote"),
        (OSError("no way"), "http://x", "connection", "p: cannot reach http://x: no way; check the address"),
        (ValueError("odd"), "", "response", "p: the reply cannot be read: ValueError: odd"),
    ],
)  # fmt: skip
def test_what_happened_on_the_way_is_told_by_its_kind(error: Exception, url: str, kind: str, says: str) -> None:
    told = provider_error(error, "p", "m", url=url)
    assert told.kind == kind
    assert str(told).startswith(says)


def test_an_error_of_ours_is_given_back_as_it_is() -> None:
    error = ProviderError("quota", "p", "no")
    assert provider_error(error, "p", "m") is error


def test_the_detailed_code_goes_before_the_general_one() -> None:
    body = {"error": {"type": "billing", "message": "no", "details": {"error_code": "insufficient_quota"}}}
    assert reported_error(body, "p", "m").kind in ("quota", "response", "invalid_request")
    assert reported_error({"error": {"message": "no", "details": {"error_code": 5}}}, "p", "m").kind != "quota"


@pytest.mark.parametrize("arguments", [{"n": float("nan")}, {"n": {1}}])
def test_arguments_that_no_json_can_carry_are_shown_for_what_they_are(arguments: dict[str, Any]) -> None:
    call = ToolCall("c", "look", FrozenDict(arguments))
    assert list(arguments_object(call)) == [UNPARSED]
    text = arguments_object(call)[UNPARSED]
    assert "'n'" in text


def test_a_body_may_hold_plain_messages_too() -> None:
    assert body_bytes({"model": "m", "input": [{"a": 1}]}, "input") == b'{"input":[{"a":1}],"model":"m"}'
    assert body_bytes({"input": []}, "input") == b'{"input":[]}'


def test_a_summary_without_a_first_task_comes_first() -> None:
    request = Request(BlockView(Transcript([AssistantMessage((TextPart("a"),))])), summary="what was")

    def encode(*_: Any) -> tuple[WireMessage, ...]:
        return (WireMessage({"block": 1}),)

    made = list(encoded_blocks(request, "w", "m", encode, lambda text: WireMessage({"t": text})))
    assert made[0] == {"t": "what was"}


# ---- schemas ----


def test_schemas_are_closed_in_lists_and_beside_them() -> None:
    inner = {"type": "object", "properties": {"a": {"type": "string"}}}
    schema = {
        "type": "object",
        "properties": {"one": {"anyOf": [inner, {"type": "null"}]}, "two": {"type": "array", "items": inner}},
        "description": "x",
    }
    closed = closed_schema(schema, all_required=True)
    assert closed["additionalProperties"] is False
    assert closed["properties"]["one"]["anyOf"][0]["additionalProperties"] is False
    assert closed["properties"]["two"]["items"]["required"] == ["a"]
    assert takes_strict(schema)
    assert not takes_strict({"type": "object", "properties": {"one": {"anyOf": [{"type": "object"}]}}})


# ---- scripts ----


@pytest.mark.parametrize(
    ("step", "says"),
    [
        ({"calls": ["look"]}, "here, call 1: a call is a mapping with 'name' and 'arguments', not "),
        ({"calls": [{"name": "look", "id": 5}]}, "here, call 1: 'id' is a text, not "),
        ({"text": "x", "usage": 5}, "here: 'usage' is a mapping of token counts, not "),
    ],
)
def test_a_step_that_cannot_be_is_told_why(step: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(says)):
        read_step(step, "here")


def test_a_script_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "replies.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigurationError, match=r"not UTF-8 text$"):
        read_script(path)


def test_a_step_that_was_read_already_is_taken_as_it_is() -> None:
    step = read_step({"text": "done"}, "here")
    provider = ScriptedProvider([step])
    from hookagent import Agent

    assert Agent(model=provider, log=False, quiet=True).run_sync("go").answer == "done"


def test_what_is_expected_is_looked_for_in_a_reply_too() -> None:
    import asyncio

    provider = ScriptedProvider([{"text": "done", "expect": "wanted"}])
    request = Request(BlockView(Transcript([UserMessage("go"), AssistantMessage((TextPart("is wanted"),))])))

    async def ask(request: Request) -> list[Any]:
        return [item async for item in provider.stream(request)]

    assert asyncio.run(ask(request))


@pytest.mark.parametrize(
    ("message", "detail", "name"),
    [("fine", {}, None), ("no", {"code": "unsupported_parameter", "param": "temperature"}, "temperature")],
)
def test_an_unsupported_parameter_is_found(message: str, detail: dict[str, Any], name: str | None) -> None:
    assert find_unsupported(message, detail) == name
