"""Mutants are read as lines that say what was changed, and the list of survivors is held to its form."""

import json
from pathlib import Path

import pytest

from checks.mutants import SURVIVORS, Mutant, forget_survivors, listed_survivors, mutants_of
from checks.mutation import TARGETS, report

MUTATED = """\
def x_double__mutmut_orig(number, times=2):
    result = number * times
    return result
def x_double__mutmut_1(number, times=2):
    result = number / times
    return result
def x_double__mutmut_2(number, times=3):
    result = number * times
    return result
    def xǁBoxǁopen__mutmut_orig(self):
        return self.lid
    def xǁBoxǁopen__mutmut_1(self):
        return None
"""
SPANS = {
    "x_double__mutmut_orig": [1, 3],
    "x_double__mutmut_1": [4, 6],
    "x_double__mutmut_2": [7, 9],
    "xǁBoxǁopen__mutmut_orig": [10, 11],
    "xǁBoxǁopen__mutmut_1": [12, 13],
}
LINES = [
    "core.box.double: `result = number * times` -> `result = number / times`",
    "core.box.double: `def x_double(number, times=2):` -> `def x_double(number, times=3):`",
    "core.box.Box.open: `return self.lid` -> `return None`",
]


def write(folder: Path, *codes: int | None) -> Path:
    """What mutmut leaves when the three mutants ended with these codes."""
    package = folder / "mutants" / "core"
    package.mkdir(parents=True, exist_ok=True)
    (package / "box.py").write_text(MUTATED, encoding="utf-8")
    (package / "box.py.spans").write_text(json.dumps({"version": 1, "spans": SPANS}), encoding="utf-8")
    names = [name for name in SPANS if "orig" not in name]
    keys = {f"core.box.{name}": code for name, code in zip(names, codes, strict=True)}
    meta = package / "box.py.meta"
    meta.write_text(json.dumps({"exit_code_by_key": keys, "durations_by_key": {}}), encoding="utf-8")
    (package / "empty.py.meta").write_text(json.dumps({"exit_code_by_key": {}}), encoding="utf-8")
    return meta


def test_a_mutant_is_a_line_that_names_function_and_change(tmp_path: Path) -> None:
    write(tmp_path, 1, 0, 0)
    assert mutants_of(tmp_path) == [Mutant(LINES[0], True), Mutant(LINES[1], False), Mutant(LINES[2], False)]


@pytest.mark.parametrize(("code", "killed"), [(1, True), (3, True), (36, True), (-24, True), (0, False), (33, False)])
def test_a_failed_test_and_a_lost_hour_kill_and_no_test_does_not(tmp_path: Path, code: int, killed: bool) -> None:
    write(tmp_path, code, 1, 1)
    assert mutants_of(tmp_path)[0].killed is killed


def test_a_mutant_that_was_not_run_is_no_result(tmp_path: Path) -> None:
    write(tmp_path, 1, None, 1)
    with pytest.raises(ValueError, match="x_double__mutmut_2: was not run"):
        mutants_of(tmp_path)


def test_survivors_are_run_again_and_the_killed_are_not(tmp_path: Path) -> None:
    meta = write(tmp_path, 1, 0, 33)
    forget_survivors(tmp_path)
    assert list(json.loads(meta.read_text())["exit_code_by_key"].values()) == [1, None, None]
    assert json.loads(meta.read_text())["durations_by_key"] == {}


def test_mutants_in_a_row_share_the_reason_below_them(tmp_path: Path) -> None:
    path = tmp_path / "survivors.txt"
    path.write_text("# all of them\n\none: `a` -> `b`\ntwo: `a` -> `b`\n    because of\n    this\n\nthree\n    that\n")
    assert listed_survivors(path) == {
        "one: `a` -> `b`": "because of this",
        "two: `a` -> `b`": "because of this",
        "three": "that",
    }


@pytest.mark.parametrize(
    ("text", "says"),
    [("one\n    why\ntwo\n", "'two' has no reason"), ("    why\n", "survivors.txt:1: a reason stands below")],
)
def test_a_list_without_reasons_is_refused(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "survivors.txt"
    path.write_text(text)
    with pytest.raises(ValueError, match=says):
        listed_survivors(path)


def test_every_survivor_in_our_list_has_a_reason() -> None:
    assert all(listed_survivors(SURVIVORS).values())


def test_too_many_survivors_and_unlisted_ones_are_problems(capsys: pytest.CaptureFixture[str]) -> None:
    mutants = [Mutant(f"m{number}", number < 84) for number in range(100)]
    problems = report("loop", mutants, dict.fromkeys((f"m{number}" for number in range(85, 100)), "known"))
    assert problems == [
        "loop: m84 survived; kill it with a test, or list it in checks/survivors.txt with the reason",
        "loop: 84.0 % of the mutants were killed, less than 85 %; add tests",
    ]
    assert capsys.readouterr().out.split() == ["loop", "100", "mutants", "16", "survived", "84.0", "%", "killed"]
    assert report("loop", mutants[:-1], {f"m{number}": "known" for number in range(84, 100)}) == [
        "loop: 84.8 % of the mutants were killed, less than 85 %; add tests"
    ]
    assert report("loop", [*mutants[:84], *mutants[90:]], {f"m{number}": "known" for number in range(84, 100)}) == []


def test_no_mutant_at_all_is_a_problem() -> None:
    assert report("loop", [], {}) == ["loop: 0.0 % of the mutants were killed, less than 85 %; add tests"]


def test_the_targets_name_files_and_tests_that_are_there() -> None:
    root = SURVIVORS.parent.parent
    for target in TARGETS.values():
        for path in target.tests:
            assert (root / path).exists(), path
        for pattern in (*target.changed, *target.spared):
            places = [root, root / "plugins" / "hookagent-context-window"]
            assert any(list(place.glob(pattern)) for place in places), pattern
