"""The coverage gate: two figures, each with its own limit, and what is missing by name."""

import json
from pathlib import Path
from typing import Any

import pytest

from checks.coverage_gate import branches, main, missing, statements


def file(statements: int, run: int, branches: int, taken: int, **missing: Any) -> dict[str, Any]:
    summary = {
        "num_statements": statements,
        "covered_lines": run,
        "num_branches": branches,
        "covered_branches": taken,
    }
    return {"summary": summary, "missing_lines": [], "missing_branches": [], **missing}


def written(tmp_path: Path, **files: dict[str, Any]) -> str:
    path = tmp_path / "report.json"
    path.write_text(json.dumps({"files": {f"hookagent/{name}.py": one for name, one in files.items()}}))
    return str(path)


def test_the_figures_sum_up_the_core_alone() -> None:
    files = {
        "hookagent/one.py": file(10, 9, 4, 3),
        "hookagent/loop/two.py": file(10, 10, 0, 0),
        "plugins/x/hookagent_x/three.py": file(100, 0, 50, 0),
    }
    report = {"files": files}
    assert (statements(report).total, statements(report).run) == (20, 19)
    assert branches(report).percent == 75.0


def test_all_is_well_at_the_limit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([written(tmp_path, one=file(100, 98, 50, 49))]) == 0
    assert capsys.readouterr().out == "coverage: 98.00 % of 100 statements\ncoverage: 98.00 % of 50 branches\n"


def test_few_branches_fail_although_all_statements_were_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lost = file(1000, 1000, 50, 48, missing_branches=[[3, 5], [7, -1]])
    assert main([written(tmp_path, one=lost, two=file(1, 1, 0, 0))]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "coverage: 100.00 % of 1,001 statements",
        "coverage: 96.00 % of 50 branches, less than 98 %",
        "coverage: not run, file by file:",
        "  hookagent/one.py: 3->5, 7->exit",
    ]


def test_few_statements_fail_although_all_branches_were_taken(tmp_path: Path) -> None:
    assert main([written(tmp_path, one=file(100, 97, 4, 4))]) == 1


def test_missing_lines_are_ranges_and_their_own_branches_are_not_said_again() -> None:
    lost = file(9, 4, 2, 0, missing_lines=[2, 3, 4, 8, 11], missing_branches=[[3, 4], [1, 8]])
    assert list(missing({"files": {"hookagent/one.py": lost}})) == ["hookagent/one.py: 2-4, 8, 11, 1->8"]


def test_a_part_of_the_tests_is_held_to_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([written(tmp_path, one=file(100, 1, 50, 1)), "tests/core"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == (
        "coverage: only a part of the tests was run, so nothing is held to its limit"
    )


@pytest.mark.parametrize(("arguments", "says"), [([], "takes the report"), (["report.json"], "says nothing about")])
def test_a_report_must_be_there_and_be_about_the_core(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], says: str
) -> None:
    (tmp_path / "report.json").write_text('{"files": {"other/one.py": {}}}')
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match=says):
        main(arguments)
