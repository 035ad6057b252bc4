"""`run --json`: strict lines, the last of type `result`, whatever happens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


def lines_of(text: str) -> list[dict[str, Any]]:
    def refuse(constant: str) -> Any:
        raise ValueError(constant)

    return [json.loads(line, parse_constant=refuse) for line in text.splitlines()]


def test_every_line_is_strict_and_ascii(command: Any, script: Any) -> None:
    model = script('- text: "é\\u2028\\u2029\\e[2J 😀"\n  calls: [{name: nope, arguments: {a: 1.0e+308}}]\n- "fin é"\n')
    got = command("run", "--json", "-m", model, "-t", "read_file", "x\u2028y")
    assert got.code == 0
    assert got.out.isascii()
    events = lines_of(got.out)
    for event in events[:-1]:
        assert {"type", "number", "seconds", "turn", "iteration"} <= set(event)
    assert [event["number"] for event in events[:-1]] == list(range(1, len(events)))
    assert events[0]["seconds"] == 0
    assert events[-1] == {
        "type": "result",
        "status": "completed",
        "answer": "fin é",
        "reason": "",
        "limit": None,
        "exit_code": 0,
        "session_id": events[-1]["session_id"],
        "usage": {
            "input_tokens": 0,
            "cache_read_tokens": 0,
            "cache_write_tokens": 0,
            "output_tokens": 0,
            "cost_usd": 0.0,
            "requests": 2,
        },
        "iterations": 2,
        "tool_calls": 0,
        "seconds": events[-1]["seconds"],
        "not_stored": [],
        "errors": [],
        "warnings": [],
    }
    message = next(event["message"] for event in events if event["type"] == "message_end" and event["iteration"] == 1)
    assert message["text"] == "é\u2028\u2029\x1b[2J 😀"
    assert message["tool_calls"][0]["arguments"] == {"a": 1e308}
    ended = next(event for event in events if event["type"] == "tool_end")
    assert ended["result"]["status"] == "error"


def test_a_limit_is_in_the_result(command: Any, script: Any) -> None:
    model = script("- calls: [{name: list_files, arguments: {}}]\n")
    got = command("run", "--json", "-m", model, "-t", "list_files", "--max-iterations", "1", "x")
    result = lines_of(got.out)[-1]
    assert (result["status"], result["limit"], result["exit_code"]) == ("limit", "max_iterations", 3)
    assert result["errors"] == ["stopped after 1 iteration: the limit max_iterations is 1"]


@pytest.mark.parametrize(("options", "still_open"), [((), []), (("--ask", "wait"), ["c1"])])
def test_asking_is_told_with_the_calls_and_what_stayed_open(
    options: tuple[str, ...], still_open: list[str], command: Any, script: Any, site: Any
) -> None:
    site.approval()
    model = script("- calls: [{name: write_file, arguments: {path: a.txt, content: b}, id: c1}]\n- Done.\n")
    got = command("run", "--json", "-m", model, *options, "x")
    events = [line for line in lines_of(got.out) if line["type"].startswith(("resolve_", "tool_"))]
    began, ended = events[0], events[1]
    call = {"id": "c1", "name": "write_file", "arguments": {"path": "a.txt", "content": "b"}}
    assert (began["type"], began["calls"], began["iteration"]) == ("resolve_start", [call], 1)
    assert (ended["type"], ended["open"]) == ("resolve_end", still_open)
    assert [one["type"] for one in events[2:]] == ([] if still_open else ["tool_end"])


def test_a_failing_plugin_ends_in_a_result(command: Any, script: Any, site: Any) -> None:
    site.plugin(
        "bad",
        "from hookagent import hookimpl\nclass Plugin:\n    @hookimpl\n"
        "    def before_llm(self, iteration):\n        raise ValueError('no')\n",
    )
    got = command("run", "--json", "-m", script("[]"), "-t", "read_file", "-p", "bad", "x")
    result = lines_of(got.out)[-1]
    assert (got.code, result["status"], result["exit_code"]) == (1, "failed", 1)
    (error,) = result["errors"]
    assert error.startswith("plugin 'bad' (hookagent-bad 1.0): hook 'before_llm' raised ValueError: no")
    assert result["session_id"]


def test_what_was_taken_mildly_is_a_warning(
    command: Any, script: Any, site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.plugin(
        "mild",
        "from hookagent import hookimpl\nclass Plugin:\n    @hookimpl\n"
        "    def on_event(self, event):\n"
        "        if event.type == 'response': raise ValueError('no, says hunter2hunter2')\n",
    )
    monkeypatch.setenv("MY_PASSWORD", "hunter2hunter2")
    words = ["-t", "read_file", "-p", "mild", "-o", "plugins.mild.on_error=warn", "x"]
    got = command("run", "--json", "-m", script("- Done.\n"), *words)
    result = lines_of(got.out)[-1]
    assert (got.code, result["status"], result["errors"]) == (0, "completed", [])
    (warning,) = result["warnings"]
    assert warning.startswith("plugin 'mild': hook 'on_event' raised ValueError: no, says ***")
    assert f"hookagent: warning: {warning}\n" in got.err


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["-o", "limits=1", "task"], "-o limits=1: limits must be a mapping, found 1"),
        (["--nope", "task"], "no such option '--nope'; did you mean '--model'?"),
        ([], None),
    ],
)
def test_errors_before_the_run_end_in_a_result(words: list[str], error: str | None, command: Any, script: Any) -> None:
    got = command("run", "--json", *words)
    (result,) = lines_of(got.out)
    assert got.code == 2
    assert (result["type"], result["status"], result["exit_code"]) == ("result", "failed", 2)
    assert result["session_id"] is None
    assert error is None or result["errors"] == [error]
    assert result["warnings"] == []
    assert all(f"hookagent: error: {one}\n" in got.err for one in result["errors"])


def test_a_json_of_another_command_is_no_run(command: Any) -> None:
    got = command("plugins", "list", "--json", "--nope")
    assert (got.code, got.out) == (2, "")


def test_a_word_behind_two_dashes_is_no_option(command: Any) -> None:
    got = command("run", "--", "--json", "more")
    assert (got.code, got.out) == (2, "")


def test_secrets_are_masked_in_failures_and_not_in_payload(
    command: Any, script: Any, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setenv("API_KEY", "sk-test-SECRET123")
    model = script("- {error: invalid_request, message: 'header sk-test-SECRET123'}\n")
    got = command("run", "--json", "-m", model, "-t", "read_file", "x")
    assert "SECRET123" not in got.out
    assert "SECRET123" not in got.err
    assert lines_of(got.out)[-1]["errors"] == ["scripted: header ***"]
