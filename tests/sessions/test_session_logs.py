"""The text log and the YAML log: one writer each, only appending, valid at every moment, private, never raising."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookagent.events import Compaction, ErrorEvent, HookReport, ResolveStart, Retry, ToolEnd, TurnEnd
from hookagent.messages import AssistantMessage, Image, ProviderPart, TextPart, ToolCall, ToolResult, UserMessage
from hookagent.sessions.logs import SessionLog, TextLog
from hookagent.usage import Usage
from tests.sessions.made import TEXTS, Teller, look

NOON = 1_764_757_800.0
SECRET = "sk-test-SECRET123"


def session_log(home: Path, agent: str = "tested", **options: Any) -> tuple[SessionLog, Teller]:
    options.setdefault("environment", {"VENDOR_API_KEY": SECRET})
    log = SessionLog(home, agent, "one", wall=lambda: NOON, **options)
    return log, Teller(log)


def text_log(home: Path, agent: str = "tested", session: str = "one", **options: Any) -> tuple[TextLog, Teller]:
    options.setdefault("environment", {"VENDOR_API_KEY": SECRET})
    log = TextLog(home, agent, session, wall=lambda: NOON, **options)
    return log, Teller(log)


def the_yaml(home: Path) -> dict[str, Any]:
    (path,) = (home / "sessions").iterdir()
    loaded: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))
    return loaded


def usage(tokens: int) -> Usage:
    return Usage(tokens, 1, 2, 3, 0.01 * tokens, 1)


def test_each_turn_is_one_item_with_its_own_figures(tmp_path: Path) -> None:
    log, teller = session_log(tmp_path)
    for number, status in enumerate(["completed", "failed", "completed"], 1):
        teller.begin(f"question {number}")
        teller.reply("", f"c{number}")
        teller.call(f"c{number}")
        if status == "failed":
            teller.tell(ErrorEvent, "model", "x", f"refused: {SECRET}")
        else:
            teller.reply(f"line one\nline {number}")
        teller.tell(TurnEnd, status, f"line one\nline {number}", usage(10 * number))
        loaded = the_yaml(tmp_path)
        assert len(loaded["turns"]) == number
    log.close()
    assert (loaded["agent"], loaded["model"], loaded["session"]) == ("tested", "scripted:test", "one")
    assert [path.name for path in (tmp_path / "sessions").iterdir()] == ["tested_2025-12-03T10-30-00.yaml"]
    first, second, third = loaded["turns"]
    assert list(first) == [
        *("input", "model", "duration_ms", "tokens", "cost", "tools_called", "outcome", "result", "messages"),
    ]
    assert [turn["input"] for turn in loaded["turns"]] == ["question 1", "question 2", "question 3"]
    assert [turn["tokens"]["input"] for turn in loaded["turns"]] == [10, 20, 30]
    assert third["tokens"] == {"input": 30, "cache_read": 1, "cache_write": 2, "output": 3}
    assert [turn["cost"] for turn in loaded["turns"]] == [0.1, 0.2, 0.3]
    assert [turn["tools_called"] for turn in loaded["turns"]] == [["look"]] * 3
    assert [turn["outcome"] for turn in loaded["turns"]] == ["completed", "failed", "completed"]
    assert first["duration_ms"] == third["duration_ms"] == 2_000.0
    assert first["result"] == "line one\nline 1"
    assert second["errors"] == ["refused: ***"]
    assert [message["role"] for message in first["messages"]] == ["user", "assistant", "tool", "assistant"]
    assert first["messages"][1]["tool_calls"] == [{"id": "c1", "name": "look", "arguments": {}}]
    assert first["messages"][2]["text"] == "seen"


def test_messages_of_every_kind_are_read_easily(tmp_path: Path) -> None:
    log, teller = session_log(tmp_path)
    teller.begin("")
    teller.user("see", images=(Image("aGk=", "image/png"),), via="steer")
    teller.user("note", origin="noter", via="plugin")
    broken = ToolCall("c1", "look", None, '{"a":', "cut")
    parts = (ProviderPart("anthropic-messages", "thinking", {"signature": "S"}), TextPart("so"), broken)
    from hookagent.events import MessageEnd

    teller.tell(MessageEnd, AssistantMessage(parts, "length"))
    teller.tell(ToolEnd, broken, ToolResult("not run", True, "error", "c1", milliseconds=1.23456))
    teller.tell(TurnEnd, "limit", "", Usage(cost_usd=None))
    log.close()
    turn = the_yaml(tmp_path)["turns"][0]
    assert turn["cost"] is None
    assert turn["messages"] == [
        {"role": "user", "text": "see", "via": "steer", "images": ["image/png"]},
        {"role": "user", "text": "note", "via": "plugin", "origin": "noter"},
        {
            "role": "assistant",
            "text": "so",
            "parts": ["anthropic-messages thinking"],
            "tool_calls": [{"id": "c1", "name": "look", "raw": '{"a":', "problem": "cut"}],
            "stop_reason": "length",
        },
        {"role": "tool", "call_id": "c1", "status": "error", "milliseconds": 1.235, "text": "not run"},
    ]


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=4))
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_said_the_file_stays_valid_and_only_grows(
    tmp_path_factory: pytest.TempPathFactory, turns: list[tuple[str, str, str]]
) -> None:
    home = tmp_path_factory.mktemp("home")
    log, teller = session_log(home)
    before = b""
    for number, (prompt, content, answer) in enumerate(turns, 1):
        teller.begin(prompt)
        teller.reply(answer, f"c{number}", **{content: [answer, {prompt: 1.5}]})
        teller.call(f"c{number}", content)
        teller.end("completed", answer)
        assert log.file is not None
        now = log.file.path.read_bytes()
        assert now.startswith(before)
        before = now
        assert len(the_yaml(home)["turns"]) == number
    log.close()


def test_a_session_that_has_no_turn_yet_is_valid(tmp_path: Path) -> None:
    log, teller = session_log(tmp_path)
    teller.begin()
    assert the_yaml(tmp_path)["turns"] is None
    log.close()


def test_the_text_log_has_a_line_for_each_thing(tmp_path: Path) -> None:
    log, teller = text_log(tmp_path)
    teller.begin("go\nnow \x1b[2J")
    teller.reply("", "c1", path="a/b")
    teller.start("c1", path="a/b")
    teller.tell(ToolEnd, look("c1"), ToolResult("x" * 5_000, call_id="c1", milliseconds=12.345))
    teller.tell(Compaction, "window", 9, 3, True)
    teller.tell(Retry, 1, 2.0, f"overloaded {SECRET}")
    teller.tell(ErrorEvent, "model", "x", f"refused {SECRET}")
    teller.tell(HookReport, "p", "before_llm", "failed", f"raised {SECRET}", 1.0)
    teller.tell(HookReport, "p", "before_llm", "returned", "str", 1.0)
    teller.reply("an answer")
    teller.tell(TurnEnd, "completed", "an answer", Usage(1, 0, 0, 1, None, 2))
    log.close()
    (path,) = (tmp_path / "logs").iterdir()
    assert path.name == "tested.log"
    lines = path.read_text("utf-8").splitlines()
    start = "2025-12-03T10:30:00Z one turn 1 "
    assert lines[0] == "2025-12-03T10:30:00Z one turn 0 run of 'tested' with scripted:test"
    assert [line.removeprefix(start) for line in lines[1:5]] == [
        "turn begins",
        r"user (prompt): go now \x1b[2J",
        "assistant: [calls look]",
        'start look (c1) {"path": "a/b"}',
    ]
    assert lines[5].startswith(f"{start}end look (c1) ok in 12.3 ms: xxx")
    assert len(lines[5]) < 2_100
    assert [line.removeprefix(start) for line in lines[6:]] == [
        "'window' sent 3 of 9 blocks",
        "retry 1 in 2 s: overloaded ***",
        "error (model, x): refused ***",
        "hook 'before_llm' of 'p' failed: raised ***",
        "assistant: an answer",
        "turn ends completed: 2 model calls, 2 tokens, price unknown",
    ]


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "a/b", "..", "", "con", "x" * 500, "ag\x00ent", "\udc00"])
def test_no_agents_name_leaves_the_folder(tmp_path: Path, name: str) -> None:
    home = tmp_path / "home"
    text, yaml_log = TextLog(home, name, "one"), SessionLog(home, name, "one")
    teller = Teller(text, yaml_log)
    teller.begin()
    teller.end()
    text.close()
    yaml_log.close()
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert sorted(path.parent.name for path in files) == ["logs", "sessions"]
    assert all(path.parent.parent == home for path in files)


@pytest.mark.skipif(os.name == "nt", reason="rights are written differently there")
def test_logs_are_their_owners_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        text, first = text_log(tmp_path / "home")
        yaml_log, second = session_log(tmp_path / "home")
        first.begin()
        second.begin()
    finally:
        os.umask(before)
    text.close()
    yaml_log.close()
    for path in [tmp_path / "home", *(tmp_path / "home").rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


def test_sessions_of_one_second_have_files_of_their_own(tmp_path: Path) -> None:
    logs = [session_log(tmp_path) for _ in range(3)]
    for _, teller in logs:
        teller.begin()
    for number, (log, teller) in enumerate(logs):
        teller.end("completed", f"answer {number}")
        log.close()
    files = sorted((tmp_path / "sessions").iterdir())
    assert len(files) == 3
    results = {yaml.safe_load(path.read_text())["turns"][0]["result"] for path in files}
    assert results == {"answer 0", "answer 1", "answer 2"}


def test_agents_of_one_name_share_their_text_log_line_by_line(tmp_path: Path) -> None:
    (first, one), (second, two) = text_log(tmp_path, session="one"), text_log(tmp_path, session="two")
    for _ in range(3):
        one.begin()
        one.end()
        two.begin()
        two.end()
    first.close()
    second.close()
    lines = (tmp_path / "logs" / "tested.log").read_text().splitlines()
    assert [line.split()[1] for line in lines[::4]] == ["one", "two"] * 3
    assert all(line.startswith("2025-") for line in lines)


def test_messages_stand_in_the_turn_in_which_they_came(tmp_path: Path) -> None:
    log, teller = session_log(tmp_path)
    teller.begin("one")
    teller.end()
    teller.begin("two")
    teller.end()
    log.close()
    turns = the_yaml(tmp_path)["turns"]
    assert [[message["text"] for message in turn["messages"]] for turn in turns] == [["one"], ["two"]]
    assert UserMessage("one").via == "prompt"


def test_lines_are_written_each_second_and_whenever_somebody_else_acts(tmp_path: Path) -> None:
    log, teller = text_log(tmp_path)
    path = tmp_path / "logs" / "tested.log"

    def lines() -> int:
        return len(path.read_text().splitlines())

    teller.begin()
    assert lines() == 1  # the two behind it came within the same second
    teller.tell(ResolveStart, (look("c1"),))
    assert lines() == 3
    teller.start("c1")
    teller.result("c1")
    assert lines() == 3
    teller.seconds += 1.0
    teller.user("a second later", via="steer")
    assert lines() == 6
    teller.start("c2")
    teller.end()
    assert lines() == 8
    teller.tell(ErrorEvent, "model", "x", "refused")
    assert lines() == 8
    log.close()
    assert lines() == 9


def test_what_a_call_ran_with_is_said_where_it_is_not_what_was_asked_for(tmp_path: Path) -> None:
    log, teller = session_log(tmp_path)
    teller.begin()
    teller.reply("", "c1", "c2", path="asked")
    teller.tell(ToolEnd, look("c1", path="asked"), ToolResult("one", call_id="c1"))
    teller.tell(ToolEnd, look("c2", path="amended"), ToolResult("two", call_id="c2"))
    teller.tell(ToolEnd, look("c3", path="resumed"), ToolResult("three", call_id="c3"))
    teller.end()
    log.close()
    results = the_yaml(tmp_path)["turns"][0]["messages"][2:]
    assert [one.get("arguments") for one in results] == [None, {"path": "amended"}, {"path": "resumed"}]
