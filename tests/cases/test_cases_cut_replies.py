"""Public cases about replies that the output limit cut: none of their calls runs, and the model is told why."""

from __future__ import annotations

from typing import Any

import pytest

from hookagent.testing import Call, Reply, StrictServer, Usage
from tests.cases.wires import WIRES, agent_on, arguments_sent, assert_accepted, result_texts

OUTPUT_LIMIT = 100
# Whole JSON that lost a field, JSON cut at every kind of place, and arguments that never began.
LOOKS_WHOLE = ('{"path": "a", "doc": ""}', '{"path": "a"}', "{}", "")
CUT = ('{"doc": "aaa', '{"doc": "a\\', '{"doc', '{"path": "a", ', "{", '{"path": "a", "doc": "b"')


class Disk:
    """A tool that writes, and what it wrote."""

    def __init__(self) -> None:
        self.written: list[tuple[str, str]] = []

    def save(self, path: str = "a", doc: str = "") -> str:
        """Save a document."""
        self.written.append((path, doc))
        return "saved"


def run_cut(wire: str, first: Reply, second: str = "I will write less") -> tuple[Disk, Any, StrictServer]:
    disk = Disk()
    with StrictServer([first, Reply(text=second)]) as server:
        agent = agent_on(wire, server, tools=[disk.save], model_settings={"max_output_tokens": OUTPUT_LIMIT})
        result = agent.run_sync("Save it.")
        assert_accepted(server)
    return disk, result, server


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("arguments", CUT)
def test_ctx_14_a_cut_call_is_answered_with_the_reason_and_is_not_taken_for_no_arguments(
    wire: str, arguments: str
) -> None:
    first = Reply(calls=[Call("save", arguments, "c1")], stop="length", usage=Usage(10, OUTPUT_LIMIT))
    disk, result, server = run_cut(wire, first)
    assert disk.written == []
    assert (result.status, result.answer, len(server.requests)) == ("completed", "I will write less", 2)
    assert "output limit" in result_texts(server.requests[1])["c1"]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("arguments", LOOKS_WHOLE)
@pytest.mark.parametrize("stop", ["length", "max_tokens"])
def test_ctx_15_nothing_of_a_cut_reply_is_trusted_though_it_looks_whole(wire: str, arguments: str, stop: str) -> None:
    calls = [Call("save", {"path": "whole", "doc": "whole"}, "c1"), Call("save", arguments, "c2")]
    # `max_tokens` is a word of two of the vendors; the third says so by another one.
    reply = Reply(calls=calls, stop="length" if wire == "openai" else stop, usage=Usage(10, OUTPUT_LIMIT))
    disk, result, server = run_cut(wire, reply)
    assert disk.written == []
    assert result.status == "completed"
    texts = result_texts(server.requests[1])
    assert list(texts) == ["c1", "c2"]
    assert all("output limit" in text for text in texts.values())


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("arguments", CUT)
def test_ctx_17_broken_arguments_are_an_error_whatever_the_server_says_of_the_end(wire: str, arguments: str) -> None:
    first = Reply(calls=[Call("save", arguments, "c1")], stop="tool_use", usage=Usage(10, OUTPUT_LIMIT))
    disk, result, server = run_cut(wire, first)
    assert disk.written == []
    assert result.status == "completed"
    # On the wire stands valid JSON: `arguments_sent` has parsed it.
    assert isinstance(arguments_sent(server.requests[1])["c1"], dict)
    assert "output limit" in result_texts(server.requests[1])["c1"]
