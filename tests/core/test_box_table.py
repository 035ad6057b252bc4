"""The table of what the Agent class that this box is modelled on does is complete, and all that it names is there."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import hookagent
from hookagent.contract import CONTRACTS
from tests.core.box_lines import CASES, LINES, Row
from tests.core.box_options import OPTIONS

TESTS = Path(__file__).resolve().parents[1]
PAGE = TESTS.parent / "docs" / "explanation" / "coming-from-an-agent-class.md"

ROWS: Mapping[str, Row] = {**{f"line {number}": row for number, row in LINES.items()}, **CASES, **OPTIONS}
NAMED = sorted({test for row in ROWS.values() for test in row.tests})
OURS = sorted({name for row in ROWS.values() for name in row.ours})

# What an Agent of that class can be given: the parts of its first state, and every other option.
STATE_FIELDS = ("systemPrompt", "model", "thinkingLevel", "tools", "messages")
OTHER_OPTIONS = (
    "convertToLlm transformContext streamFn getApiKey onPayload onResponse beforeToolCall afterToolCall steeringMode "
    "followUpMode sessionId thinkingBudgets transport maxRetryDelayMs toolExecution"
).split()
NOT_TESTED_THERE = {
    "a transform cuts a pair",
    "injection from hooks",
    "listener exceptions",
    "duplicate ids",
    "tool returning nothing",
    "tool ignoring abort",
    "empty prompt list",
    "low-level stream after a callback exception",
    "exception on agent_end",
}


@functools.cache
def defined_in(file: str) -> Mapping[str, list[str]]:
    """The tests that a module's source defines at its top level, each with its decorators as source."""
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    return {
        node.name: [ast.unparse(one) for one in node.decorator_list]
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    }


def resolve(name: str) -> object:
    """What of ours a name means: a hook, or something public, perhaps one attribute or `(parameter=)` of it.

    Raises LookupError when there is none.
    """
    found = re.fullmatch(r"(?P<path>[\w.]+)(?:\((?P<parameter>\w+)=\))?", name)
    if found is None:
        raise LookupError(name)
    if name in CONTRACTS:
        return CONTRACTS[name]
    path = found["path"]
    module = "hookagent.providers" if path.startswith("hookagent.providers.") else "hookagent"
    first, *attributes = path.removeprefix(f"{module}.").split(".")
    thing: Any = getattr(importlib.import_module(module), first, None)
    for attribute in attributes:
        known = hasattr(thing, attribute) or attribute in getattr(thing, "__dataclass_fields__", ())
        thing = getattr(thing, attribute, attribute) if known else None
    if thing is None or (found["parameter"] and found["parameter"] not in inspect.signature(thing).parameters):
        raise LookupError(name)
    return thing


def page_rows() -> dict[str, str]:
    """The options that the page's tables tell of, each with the rest of its line."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    cells = [re.fullmatch(r"\| `(?P<option>[\w.]+)` \|(?P<rest>.*)\|", line) for line in lines]
    return {one["option"]: one["rest"].replace("...", "") for one in cells if one is not None}


# ---- complete ----


def test_every_line_case_and_option_has_its_row() -> None:
    assert list(LINES) == list(range(1, 48))
    assert set(CASES) == NOT_TESTED_THERE
    assert len(CASES) == 9
    assert set(OPTIONS) == {*(f"initialState.{field}" for field in STATE_FIELDS), *OTHER_OPTIONS}


@pytest.mark.skipif("HOOKAGENT_BOX_LINES" not in os.environ, reason="HOOKAGENT_BOX_LINES names no file")
def test_the_rows_are_those_of_the_file_of_lines() -> None:
    text = Path(os.environ["HOOKAGENT_BOX_LINES"]).read_text(encoding="utf-8")
    part = text[text.index("\n## (c)") : text.index("\n## (d)")]
    assert [int(number) for number in re.findall(r"^(\d+)\. ", part, re.MULTILINE)] == list(LINES)
    untested = re.search(r"^Not in the test files read.*?: (.+)\.$", part, re.MULTILINE)
    assert untested is not None
    assert len(untested[1].split("; ")) == len(CASES)


@pytest.mark.parametrize("name", ROWS)
def test_a_row_has_what_its_ruling_asks_for(name: str) -> None:
    row = ROWS[name]
    asked: dict[str, Callable[[], bool]] = {
        "built": lambda: not row.ours,
        "replaced": lambda: bool(row.ours),
        "refused": lambda: len(row.why.split()) > 4 and not row.ours,
    }
    assert row.what
    assert row.tests
    assert asked[row.ruling]()


# ---- true ----


@pytest.mark.parametrize("test", NAMED)
def test_a_named_test_is_there_and_runs(test: str) -> None:
    file, _, name = test.partition("::")
    decorators = defined_in(file)[name]
    assert not [one for one in decorators if "mark.skip(" in one]
    for mark in (one for one in decorators if "xfail" in one):
        assert re.search(r"strict=True.*reason='core: |reason='core: .*strict=True", mark), mark


@pytest.mark.parametrize("name", OURS)
def test_what_stands_for_something_is_there(name: str) -> None:
    resolve(name)


@pytest.mark.parametrize(
    "name", ["shape_requests", "Agent.stear", "Agent(transport=)", "Nothing", "hookagent.providers.X", "Stop !"]
)
def test_what_is_not_there_is_found_to_be_missing(name: str) -> None:
    with pytest.raises(LookupError):
        resolve(name)


def test_a_hook_may_not_be_taken_for_a_public_name() -> None:
    assert not set(CONTRACTS) & set(hookagent.__all__)


# ---- told ----


@pytest.mark.parametrize("option", OPTIONS)
def test_the_page_tells_what_stands_for_an_option(option: str) -> None:
    told = page_rows()[option]
    missing = [name for name in OPTIONS[option].ours if f"`{name.rpartition('providers.')[2]}`" not in told]
    assert missing == []


def test_the_page_tells_of_no_option_that_the_table_does_not_have() -> None:
    assert set(page_rows()) == set(OPTIONS)
