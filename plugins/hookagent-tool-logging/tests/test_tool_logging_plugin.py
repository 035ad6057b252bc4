from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from hookagent import Agent, Deny, hookimpl
from hookagent_tool_logging import ToolLogging

LOOK = {"id": "c1", "name": "look", "arguments": {"path": "a.txt", "headers": {"Authorization": "Bearer abcdefgh"}}}
AgentWith = Callable[..., Agent]


@hookimpl
def before_each_tool(tool_call: Any) -> Deny | None:
    return Deny("not today") if tool_call.arguments == {"path": "denied"} else None


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_start_and_end_go_to_the_standard_logger(agent_with: AgentWith, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "hookagent.tools")
    result = agent_with([LOOK], ToolLogging()).run_sync("go")
    assert result.status == "completed"
    assert [record.levelname for record in caplog.records] == ["INFO", "INFO"]
    start, end = (record.getMessage() for record in caplog.records)
    assert start == 'look (c1) starts {"path": "a.txt", "headers": {"Authorization": "***"}}'
    assert end.startswith("look (c1) ended: ok, took ")
    called = [vars(record)["tool_call"] for record in caplog.records]
    assert [one["event"] for one in called] == ["start", "end"]
    assert called[1]["milliseconds"] >= 0
    assert called[1]["error"] is None
    assert {one["session"] for one in called} == {result.session.id}


def test_every_outcome_is_logged_with_its_status(agent_with: AgentWith, tmp_path: Path) -> None:
    calls = [
        {"id": "ok", "name": "look", "arguments": {"path": "a"}},
        {"id": "failed", "name": "fail", "arguments": {"path": "b"}},
        {"id": "denied", "name": "look", "arguments": {"path": "denied"}},
        {"id": "unknown", "name": "lok", "arguments": {}},
        {"id": "bad", "name": "look", "arguments": {"path": 5}},
        {"id": "broken", "name": "look", "raw_arguments": '{"path": "a", "api_key": "abcdefghij'},
    ]
    path = tmp_path / "calls.jsonl"
    agent = agent_with(calls, ToolLogging(ToolLogging.Options(file=str(path))), before_each_tool)
    agent.run_sync("go")
    agent.close_sync()
    logged = records(path)
    starts = [one["call_id"] for one in logged if one["event"] == "start"]
    ends = {one["call_id"]: one for one in logged if one["event"] == "end"}
    assert starts == ["ok", "failed"]
    assert {call_id: one["status"] for call_id, one in ends.items()} == {
        "ok": "ok",
        "failed": "error",
        "denied": "denied",
        "unknown": "error",
        "bad": "error",
        "broken": "error",
    }
    assert {call_id for call_id, one in ends.items() if one["milliseconds"] is None} == {
        "denied",
        "unknown",
        "bad",
        "broken",
    }
    assert "no such file: b" in ends["failed"]["error"]
    assert ends["failed"]["error_type"] == "ValueError"
    assert "not today" in ends["denied"]["error"]
    assert ends["unknown"]["error_type"] == "UnknownTool"
    assert ends["bad"]["error_type"] == "BadArguments"
    assert ends["broken"]["arguments"] == '{"path": "a", "api_key": "***'


def test_calls_that_a_stop_kept_from_running_are_logged(agent_with: AgentWith, tmp_path: Path) -> None:
    from hookagent import Stop

    @hookimpl
    def before_tools() -> Stop:
        return Stop("enough")

    path = tmp_path / "calls.jsonl"
    result = agent_with([LOOK], ToolLogging(ToolLogging.Options(file=str(path))), before_tools).run_sync("go")
    assert result.status == "stopped"
    assert [(one["event"], one["status"], one["milliseconds"]) for one in records(path)] == [("end", "not_run", None)]


def test_arguments_can_be_left_out(agent_with: AgentWith, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "hookagent.tools")
    path = tmp_path / "calls.jsonl"
    options = ToolLogging.Options(file=str(path), arguments=False, level="debug")
    agent_with([LOOK], ToolLogging(options)).run_sync("go")
    assert all("arguments" not in one for one in records(path))
    assert "a.txt" not in caplog.text
    assert {record.levelno for record in caplog.records} == {logging.DEBUG}


def test_texts_are_cut_at_max_chars(agent_with: AgentWith, tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    call = {"name": "look", "arguments": {"path": "p" * 10_000}}
    agent_with([call], ToolLogging(ToolLogging.Options(file=str(path), max_chars=40))).run_sync("go")
    shown = records(path)[0]["arguments"]["path"]
    assert len(shown) < 100
    assert "[cut: 10,000 characters]" in shown


def test_secrets_of_the_environment_reach_neither_file_nor_logger(
    agent_with: AgentWith, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    plugin = ToolLogging(ToolLogging.Options(file=str(tmp_path / "calls.jsonl")))
    monkeypatch.setenv("SERVICE_API_KEY", "plain-SECRET123")  # set later than the plugin was made
    caplog.set_level(logging.DEBUG)
    calls = [
        {"name": "look", "arguments": {"path": "plain-SECRET123"}},
        {"name": "fail", "arguments": {"path": "x plain-SECRET123 x"}},
    ]
    agent_with(calls, plugin).run_sync("go")
    assert "SECRET123" not in (tmp_path / "calls.jsonl").read_text()
    assert "SECRET123" not in "".join(record.getMessage() for record in caplog.records)
    assert plugin.lost == 0


def test_without_a_handler_nothing_is_printed(agent_with: AgentWith, capfd: pytest.CaptureFixture[str]) -> None:
    plugin = ToolLogging()
    agent_with([LOOK], plugin).run_sync("go")
    assert capfd.readouterr() == ("", "")
    assert plugin.lost == 0


def test_a_name_from_the_model_cannot_forge_a_line(agent_with: AgentWith, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "hookagent.tools")
    call = {"id": "c\r1", "name": "x\nlook (c9) ended: ok\x1b[2K", "arguments": {"a": "\u202e\x9b"}}
    agent_with([call], ToolLogging()).run_sync("go")
    assert caplog.records
    assert all(record.getMessage().isprintable() for record in caplog.records)


class FailingHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        raise RuntimeError("the pipe is gone")


def test_a_handler_that_raises_is_said_once_and_ends_nothing(
    agent_with: AgentWith, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "calls.jsonl"
    plugin = ToolLogging(ToolLogging.Options(file=str(path)))
    logger = logging.getLogger("hookagent.tools")
    handler = FailingHandler()
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        result = agent_with([LOOK, {**LOOK, "id": "c2"}], plugin).run_sync("go")
    finally:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)
    assert result.status == "completed"
    assert result.errors == ()
    assert plugin.lost == 4
    assert capfd.readouterr().err.count("the pipe is gone") == 1
    assert len(records(path)) == 4  # one failing log does not hurt the other


@pytest.mark.parametrize("file", [".", "missing/folder/calls.jsonl"])
def test_a_file_that_cannot_be_written_is_said_once_and_ends_nothing(
    agent_with: AgentWith, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], file: str
) -> None:
    monkeypatch.chdir(tmp_path)
    plugin = ToolLogging(ToolLogging.Options(file=file))
    agent = agent_with([LOOK], plugin)
    assert agent.run_sync("go").status == "completed"
    agent.close_sync()
    assert plugin.lost == 2
    errors = capfd.readouterr().err.splitlines()
    assert len(errors) == 1
    assert errors[0].startswith(f"tool-logging: {os.path.abspath(file)}: cannot be written: ")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_full_disk_ends_nothing(agent_with: AgentWith, capfd: pytest.CaptureFixture[str]) -> None:
    plugin = ToolLogging(ToolLogging.Options(file="/dev/full"))
    assert agent_with([LOOK], plugin).run_sync("go").status == "completed"
    assert plugin.lost == 2
    assert "No space left on device" in capfd.readouterr().err


def test_without_standard_error_a_failure_is_still_counted(
    agent_with: AgentWith, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    plugin = ToolLogging(ToolLogging.Options(file=str(tmp_path)))
    monkeypatch.setattr("sys.stderr", None)
    assert agent_with([LOOK], plugin).run_sync("go").status == "completed"
    assert plugin.lost == 2
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("wrong", [{"level": "loud"}, {"file": ""}, {"max_chars": 0}, {"levle": "info"}])
def test_bad_options_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ToolLogging.Options.model_validate(wrong)


def test_every_option_is_described() -> None:
    assert all(field.description for field in ToolLogging.Options.model_fields.values())
