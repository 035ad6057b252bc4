"""Bad replies of a model, each with its exact message, exit code and answer, and the proof that nothing was lost."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest


class Reply(NamedTuple):
    """A script, and what must come of it: exit code, answer, and every line of the command's own on standard error."""

    script: str
    code: int
    answer: str
    errors: list[str]
    results: Sequence[str] = ()


REPLIES = {
    "nothing": Reply("- {text: ''}\n", 1, "", ["error: the model gave an empty reply; stop reason: end"]),
    "blank": Reply("- {text: '  '}\n", 1, "", ["error: the model gave an empty reply; stop reason: end"]),
    "refusal": Reply(
        "- {text: I will not., stop: refusal, stop_detail: policy}\n",
        1,
        "I will not.",
        ["error: the model stopped (refusal: policy)"],
    ),
    "filtered": Reply("- {text: Half, stop: filtered}\n", 1, "Half", ["error: the model stopped (filtered)"]),
    "cut answer": Reply(
        "- {text: Half an, stop: length}\n",
        3,
        "Half an",
        ["limit: the answer was cut by the output limit; raise model_settings.max_output_tokens"],
    ),
    "unknown tool": Reply(
        "- calls: [{name: read_fiel, arguments: {path: a}}]\n- Sorry.\n", 0, "Sorry.", [], ["UnknownTool"]
    ),
    "broken arguments": Reply(
        "- calls: [{name: read_file, raw_arguments: '{\"path\": '}]\n- Sorry.\n", 0, "Sorry.", [], ["BadArguments"]
    ),
    "wrong type": Reply(
        "- calls: [{name: read_file, arguments: {path: [1]}}]\n- Sorry.\n", 0, "Sorry.", [], ["BadArguments"]
    ),
    "not a number": Reply(
        "- calls: [{name: read_file, raw_arguments: '{\"path\": NaN}'}]\n- Sorry.\n", 0, "Sorry.", [], ["BadArguments"]
    ),
    "cut call": Reply(
        "- {calls: [{name: read_file, arguments: {path: data.txt}}], stop: length}\n- Sorry.\n",
        0,
        "Sorry.",
        [],
        ["CutReply"],
    ),
    "one id twice": Reply(
        "- calls: [{id: a, name: list_files}, {id: a, name: list_files}]\n- Both.\n", 0, "Both.", [], ["None", "None"]
    ),
    "no such file": Reply(
        "- calls: [{name: read_file, arguments: {path: ../../etc/passwd}}]\n- Sorry.\n",
        0,
        "Sorry.",
        [],
        ["PermissionError"],
    ),
    "no key": Reply(
        "- {error: authentication, message: no key was found}\n", 1, "", ["error: scripted: no key was found"]
    ),
    "too long": Reply("- {error: too_long, message: too many tokens}\n", 1, "", ["error: scripted: too many tokens"]),
    "no more replies": Reply(
        "- calls: [{name: list_files}]\n",
        1,
        "",
        ["error: scripted: replies.yaml has 1 step, but step 2 was asked for; add it"],
        ["None"],
    ),
    "another message expected": Reply(
        "- {text: Yes., expect: something else}\n",
        1,
        "",
        ["error: scripted: replies.yaml:1: step 1: expected 'something else' in the last message, got: task"],
    ),
    "never ending calls": Reply(
        "- calls: [{name: list_files}]\n" * 10,
        3,
        "",
        ["limit: stopped after 10 iterations: the limit max_iterations is 10; raise it with --max-iterations"],
        ["None"] * 10,
    ),
}


@pytest.mark.parametrize("name", REPLIES)
def test_a_bad_reply_ends_in_order(name: str, command: Any, script: Any, folder: Path) -> None:
    reply = REPLIES[name]
    (folder / "data.txt").write_text("what was here before")
    model = script(reply.script)
    words = ["-m", model, "-t", "read_file", "-t", "list_files", "task"]
    got = command("run", *words)
    assert got.code == reply.code
    assert got.out == (f"{reply.answer}\n" if reply.answer else "")
    said = [line.removeprefix("hookagent: ") for line in got.err.splitlines() if line.startswith("hookagent: ")]
    assert said == reply.errors
    assert (folder / "data.txt").read_text() == "what was here before"
    assert sorted(path.name for path in folder.iterdir()) == ["data.txt", "replies.yaml"]

    events = [json.loads(line) for line in command("run", "--json", *words).out.splitlines()]
    calls = [
        call["id"]
        for event in events
        if event["type"] == "message_end"
        for call in event["message"].get("tool_calls", [])
    ]
    results = [event for event in events if event["type"] == "tool_end"]
    # Nothing is lost: each call has one result (told as they come), and the task itself stands in the transcript.
    assert sorted(event["result"]["call_id"] for event in results) == sorted(calls)
    assert len(set(calls)) == len(calls)
    assert [str(event["result"]["error_type"]) for event in results] == list(reply.results)
    assert any(event["type"] == "message_end" and event["message"]["text"] == "task" for event in events)
    assert (events[-1]["type"], events[-1]["exit_code"]) == ("result", reply.code)
