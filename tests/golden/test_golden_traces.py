"""Every scenario, run in every way, fires exactly the hooks and events of its file, and leaves exactly its messages."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from checks.tally import FULL, count
from hookagent.contract import CONTRACTS
from hookagent.events import Event
from hookagent.limits import Limits
from tests.golden import files, table
from tests.golden.__main__ import main
from tests.golden.balance import check_balance
from tests.golden.files import FOLDER, path_of, read, written
from tests.golden.interruptions import NO_RUN
from tests.golden.notes import Note, lay_out, unfolded
from tests.golden.perform import Played, check_events, play
from tests.golden.stage import Mode, Scenario
from tests.golden.table import MODES, SCENARIOS, cells, plainest


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_it_happens_exactly_as_written_in_whatever_way_it_is_run(scenario: Scenario) -> None:
    goldens = read(scenario)
    for cell in cells(every=FULL):
        golden, played = goldens[cell.mode], play(scenario, cell)
        expected = unfolded(golden.sequence, streamed=cell.streamed)
        assert unfolded(played.trace, streamed=True) == expected, cell
        assert played.messages == golden.messages, cell
        if cell == plainest(cell.mode):
            assert played.trace == golden.sequence, "only its layout: run python -m tests.golden --write"
        _check_what_always_holds(played)
        count("golden cells")


def _check_what_always_holds(played: Played) -> None:
    stage = played.stage
    failed = {one.hook for one in stage.heard if one.type == "hook" and one.outcome in ("failed", "overran")}
    check_balance(stage.witness.calls, failed)
    around = {kind: Counter(note.name for note in stage.notes if note.kind == kind) for kind in ("hook", "end")}
    assert {hook: around["hook"][hook] for hook in around["end"]} == around["end"]
    if stage.built:
        check_events(played)


def test_each_scenario_has_its_file_and_each_file_its_scenario() -> None:
    assert len({scenario.name for scenario in SCENARIOS}) == len(SCENARIOS)
    assert sorted(FOLDER.iterdir()) == sorted(map(path_of, SCENARIOS))
    for scenario in SCENARIOS:
        assert written(scenario, read(scenario)) == path_of(scenario).read_text(encoding="utf-8"), scenario.name


@pytest.mark.parametrize("mode", MODES)
def test_the_messages_follow_from_the_sequence_by_the_ordering_rule(mode: Mode) -> None:
    for scenario in SCENARIOS:
        golden = read(scenario)[mode]
        assert _messages_of(unfolded(golden.sequence, streamed=True)) == golden.messages.splitlines(), scenario.name


def _messages_of(entries: list[str]) -> list[str]:
    """What is stored, by the events alone: results in call order, and what came meanwhile behind the last of them."""
    out: list[str] = []
    held: list[str] = []
    results: dict[str, str] = {}
    for entry in entries:
        kind, _, what = entry.strip("[]").partition(" ")
        if kind == "tool_end":
            call, status = what.split()
            results[call] = f"result of {call}: {status}"
        elif kind == "message_end":
            (held if results else out).append(what)
            if what.startswith("assistant: calls "):
                calls = what.removeprefix("assistant: calls ").partition(",")[0].split()
                results = dict.fromkeys(calls, "")
        if results and all(results.values()):
            out += [*results.values(), *held]
            held, results = [], {}
    waiting = [call for call, result in results.items() if not result]
    out += [result for result in results.values() if result]
    return [*out, *([f"waiting: {' '.join(waiting)}"] if waiting else []), *(f"held: {one}" for one in held)]


def test_the_families_are_complete_by_the_contract_and_the_limits() -> None:
    names = {scenario.name for scenario in SCENARIOS}
    assert {f"failing-{hook}" for hook in CONTRACTS} <= names
    assert {f"abort-in-{hook}" for hook in CONTRACTS if hook not in NO_RUN} <= names
    assert {f"limit-{one.name}" for one in fields(Limits) if one.name != "closing_answer"} <= names


def test_every_hook_and_every_event_stands_in_some_trace() -> None:
    lines = [line for one in SCENARIOS for mode in MODES for line in unfolded(read(one)[mode].sequence, streamed=True)]
    words = {line.strip("~[]").partition(" ")[0] for line in lines}
    events: list[Any] = list(get_args(Event))
    assert set(CONTRACTS) - {"on_event"} <= words
    assert {event(*([None] * len(event._fields))).type for event in events} <= words


def test_the_cells_are_all_of_them_or_each_pair_at_least_once() -> None:
    every, usual = set(cells(every=True)), set(cells(every=False))
    assert len(every) == 24
    assert usual <= every
    assert {(one.mode, one.entry, one.streamed) for one in usual if one.entry != "stream"} == {
        (one.mode, one.entry, one.streamed) for one in every if one.entry != "stream"
    }
    for mode in MODES:
        mine = [one for one in usual if one.mode == mode]
        assert {one.entry for one in mine} == {"run_sync", "run", "stream"}
        assert {(one.streamed, one.is_async) for one in mine} == {(a, b) for a in (True, False) for b in (True, False)}
        assert plainest(mode) in mine


def test_a_layout_says_what_was_noted_and_leaves_out_what_only_streams() -> None:
    notes = [
        Note("event", "agent_start", "[agent_start]"),
        Note("hook", "after_llm", "done"),
        *[Note("event", "message_delta", "[message_delta text]")] * 9,
        Note("event", "message_end", "[message_end assistant: done]"),
        Note("person", "during", "> agent.abort()"),
        Note("end", "wrap_tool_call", "aborted"),
    ]
    text = lay_out(notes)
    kept = ["[agent_start]", "after_llm done", "[message_end assistant: done]", "> agent.abort()"]
    assert max(map(len, text.splitlines())) <= 118
    assert unfolded(text, streamed=False) == [*kept, "/wrap_tool_call aborted"]
    assert len(unfolded(text, streamed=True)) == len(notes)
    assert lay_out(notes[:2] + notes[:1:-1]) != text


def test_the_command_finds_stale_files_and_writes_them_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(table, "SCENARIOS", SCENARIOS[:2])
    monkeypatch.setattr(files, "FOLDER", tmp_path)
    (tmp_path / "gone.yaml").write_text("title: nobody's\n", encoding="utf-8")

    assert main([]) == 1
    assert main(["--write"]) == 0
    assert main([]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["no-tools.yaml", "one-tool.yaml"]
    assert yaml.safe_load((tmp_path / "no-tools.yaml").read_text(encoding="utf-8"))["title"] == "No tools"
    assert main(["--wriet"]) == 2
    assert "gone.yaml" in capsys.readouterr().out
