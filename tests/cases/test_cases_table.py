"""The table of the public cases is complete, and each test that it names is there and bears the case's id."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from checks.tally import count
from tests.cases import table_first, table_second

MOST_WITHOUT = 10
MOST_EXPECTED_FAILURES = 12
COUNT = 134
TABLES = (table_first, table_second)
COVERED: dict[str, str] = {case: test for table in TABLES for case, test in table.COVERED.items()}
EXPECTED_FAILURES: dict[str, tuple[str, str]] = {
    case: row for table in TABLES for case, row in table.EXPECTED_FAILURES.items()
}
WITHOUT: dict[str, str] = {case: line for table in TABLES for case, line in table.WITHOUT.items()}
NAMED = COVERED | {case: test for case, (test, _) in EXPECTED_FAILURES.items()}


def rows() -> list[str]:
    """The ids of all rows of all tables, one that stands twice being there twice."""
    return [
        case for table in TABLES for rows in (table.COVERED, table.EXPECTED_FAILURES, table.WITHOUT) for case in rows
    ]


def function_of(test: str) -> Any:
    """The test function that a row names."""
    file, _, name = test.partition("::")
    return getattr(importlib.import_module(f"tests.cases.{file.removesuffix('.py')}"), name, None)


def marks(function: Any, name: str) -> Iterator[Any]:
    """The marks of a test, those of its parameters included."""
    for mark in getattr(function, "pytestmark", ()):
        if mark.name == name:
            yield mark
        if mark.name == "parametrize":
            yield from (inner for value in mark.args[1] for inner in getattr(value, "marks", ()) if inner.name == name)


def ids_of(function: Any) -> Iterator[str]:
    """The cases whose ids stand in the name of a test or in the ids of its parameters."""
    found = re.match(r"test_([a-z]{3,4})((?:_\d\d)+)_", function.__name__)
    if found:
        yield from (f"{found[1].upper()}-{number}" for number in found[2].split("_") if number)
    for mark in marks(function, "parametrize"):
        ids = mark.kwargs.get("ids")
        texts = [getattr(value, "id", None) or value for value in mark.args[1]]
        texts += list(ids) if isinstance(ids, list | tuple) else []
        yield from (text for text in texts if isinstance(text, str))


def test_no_case_stands_twice() -> None:
    assert sorted(rows()) == sorted(set(rows()))
    assert all(re.fullmatch(r"[A-Z]{3,4}-\d\d", case) for case in rows())


def test_the_table_is_complete() -> None:
    assert len(rows()) == COUNT
    assert len(WITHOUT) <= MOST_WITHOUT
    assert len(EXPECTED_FAILURES) <= MOST_EXPECTED_FAILURES


@pytest.mark.skipif("HOOKAGENT_CASES" not in os.environ, reason="HOOKAGENT_CASES does not name the file of cases")
def test_the_table_has_the_cases_of_the_file() -> None:
    text = Path(os.environ["HOOKAGENT_CASES"]).read_text(encoding="utf-8")
    listed = re.findall(r"^- id: (\S+)$", text, re.MULTILINE)
    assert len(listed) == COUNT
    assert set(rows()) == set(listed)


@pytest.mark.parametrize("case", NAMED)
def test_the_named_test_is_there_and_bears_the_id(case: str) -> None:
    function = function_of(NAMED[case])
    assert function is not None, NAMED[case]
    assert case in set(ids_of(function))
    count("cases covered", case in COVERED)


@pytest.mark.parametrize("case", EXPECTED_FAILURES or [pytest.param("", marks=pytest.mark.skip("there are none"))])
def test_an_expected_failure_is_a_strict_one(case: str) -> None:
    test, missing = EXPECTED_FAILURES[case]
    found = list(marks(function_of(test), "xfail"))
    assert found
    assert all(mark.kwargs.get("strict") is True for mark in found)
    assert any(word in missing for word in ("policy", "ledger", "lasting"))


def test_each_case_without_a_test_names_the_line_that_rules() -> None:
    line_of_design: Mapping[str, str] = WITHOUT
    assert all(len(line.split()) > 4 for line in line_of_design.values())
