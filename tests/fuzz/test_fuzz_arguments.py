"""Arguments of tools: valid ones run with the right Python values, broken ones are errors that say what is expected."""

from __future__ import annotations

import asyncio
import functools
import inspect
import json
import typing
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from checks.tally import FULL, size
from hookagent import Agent, ToolResult
from tests.cases.checked_model import CheckedModel
from tests.fuzz.effort import counted, within_calls
from tests.fuzz.fuzzed_tools import CALLABLES, GOT, TOOLS
from tests.fuzz.schema_values import ANYTHING, fits, values_of

fuzzed = settings(
    max_examples=size(20, 500),
    deadline=None,
    derandomize=not FULL,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


PRICES = st.floats(-1e9, 1e9) | st.decimals(-(10**9), 10**9, allow_nan=False, places=3).map(str)


def arguments_of(name: str) -> Any:
    """Arguments that the tool's schema takes. That a decimal's text is a number, a schema cannot say."""
    values = values_of(TOOLS[name].parameters)
    if "price" not in TOOLS[name].parameters["properties"]:
        return values
    return st.builds(lambda arguments, price: {**arguments, "price": price}, values, PRICES)


def hints_of(name: str) -> dict[str, Any]:
    function = CALLABLES[name]
    while isinstance(function, functools.partial):
        function = function.func
    if not inspect.isroutine(function):
        function = type(function).__call__
    hints = typing.get_type_hints(function, include_extras=True)
    return {key: hint for key, hint in hints.items() if key not in ("return", "context")}


def called(name: str, raw: str) -> ToolResult:
    """What the call of a tool with this argument text gives, in a run whose requests are checked on all wires."""
    GOT.clear()
    counted()
    model = CheckedModel([{"calls": [{"name": name, "raw_arguments": raw, "id": "c1"}]}, "done"])
    agent = Agent("fuzzed", tools=[TOOLS[name]], model=model, log=False, quiet=True)
    result = asyncio.run(agent.run("go"))
    assert (result.status, result.answer, result.errors, result.warnings) == ("completed", "done", (), ())
    tool_result = agent.session.transcript[1].results[0]  # type: ignore[union-attr]
    assert tool_result is not None
    assert len(model.requests) == 2
    return tool_result


def check_got(name: str) -> None:
    """What the tool was given is what its annotations say."""
    hints = hints_of(name)
    (got,) = GOT
    for key, value in got.items():
        assert fits(value, hints[key]), (name, key, value, hints[key])


def check_error(name: str, result: ToolResult) -> None:
    """It did not run, and the model is told what was expected."""
    assert GOT == []
    assert (result.status, result.is_error) == ("error", True)
    assert "expected: " in result.content, result.content
    for parameter in TOOLS[name].parameters["properties"]:
        assert parameter in result.content
    assert len(result.content) < 20_000
    result.content.encode("utf-8")


@pytest.mark.parametrize("name", TOOLS)
def test_what_the_schema_takes_runs_with_the_right_values(name: str) -> None:
    @fuzzed
    @given(arguments=arguments_of(name))
    def check(arguments: Any) -> None:
        result = called(name, json.dumps(arguments))
        assert (result.status, result.content) == ("ok", "taken"), (arguments, result.content)
        check_got(name)
        for key, value in arguments.items():
            if isinstance(value, bool | str | None) and hints_of(name)[key] in (bool, str, type(None)):
                assert GOT[0][key] == value

    check()


def strict_object(raw: str) -> dict[str, Any] | None:
    """The object that a text is by the letter of JSON, or None: no NaN, no key twice, nothing too deep or too long."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in items}) != len(items):
            raise ValueError("a key twice")
        return dict(items)

    def refused(constant: str) -> Any:
        raise ValueError(constant)

    text = raw.strip().removeprefix("\ufeff").strip()
    if text in ("", "null"):
        return {}
    try:
        value = json.loads(text, object_pairs_hook=pairs, parse_constant=refused)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


TOKENS = (
    *("NaN Infinity -Infinity 1e999 -0 0x10 01 +1 .5 1. True None undefined 'a' \"a".split()),
    *"{ } [ ] : , ,, null {} [] //".split(),
    *('"\\ud800"', '"\\udc00\\ud800"', '"\\u0000"', '"\\x41"', "\\", "\0", "\x1b[2J", "\ufeff", "\ud800", "\u2028"),
    *("1" + "0" * 5000, "-" + "9" * 4400, "1." + "0" * 5000, "1e-999999999", "[" * 3000, '{"a":' * 3000, "[" * 200_000),
    *("```json\n", "\n```", "<tool_call>", '{"text": 1, "text": 2}', '"a": 1, "a": 2', "}{", "{}{}"),
)


@st.composite
def broken(draw: st.DrawFn, valid: Any) -> str:
    """Valid arguments as a model might get them wrong: cut, with something put in, with other types, or none at all."""
    arguments = draw(valid)
    match draw(st.sampled_from("cut put swap shape noise repr double".split())):
        case "cut":
            text = json.dumps(arguments)
            start, end = sorted((draw(st.integers(0, len(text))), draw(st.integers(0, len(text)))))
            return text[start:end]
        case "put":
            text = json.dumps(arguments)
            place = draw(st.integers(0, len(text)))
            return text[:place] + draw(st.sampled_from(TOKENS)) + text[place:]
        case "swap":
            changed: dict[str, Any] = dict(arguments)
            names = [*arguments, "text", "count", "extra", "Count"]
            for name in draw(st.lists(st.sampled_from(names), min_size=1, max_size=3)):
                changed[name] = draw(ANYTHING)
            drops = draw(st.booleans())
            if changed and drops:
                changed.pop(draw(st.sampled_from(sorted(changed))))
            return json.dumps(changed)
        case "shape":
            return json.dumps(draw(ANYTHING))
        case "noise":
            return draw(st.sampled_from(TOKENS) | st.text(st.characters(codec=None), max_size=12))
        case "repr":
            return repr(arguments)
        case _:
            text = json.dumps(arguments)
            return draw(st.sampled_from([text + text, f"[{text}]", json.dumps(text), f"```json\n{text}\n```"]))


@pytest.mark.parametrize("name", TOOLS)
def test_broken_arguments_are_an_error_that_says_what_is_expected(name: str) -> None:
    @fuzzed
    @given(raw=broken(arguments_of(name)))
    @example(raw="{")
    @example(raw='{"count": 1, "count": 2}')
    @example(raw="[" * 100_000)
    @example(raw='{"count": ' + "1" * 5001 + "}")
    @example(raw='{"count": NaN}')
    @example(raw='{"text": "\\ud800"}')
    @example(raw="\ud800")
    def check(raw: str) -> None:
        result = called(name, raw)
        if result.status == "ok":
            assert strict_object(raw) is not None, raw
            check_got(name)
        else:
            check_error(name, result)

    check()


@pytest.mark.parametrize(
    "raw", ["[" * 200_000, '{"a":' * 50_000, '"' * 100_000, "9" * 200_000, "{" + '"a":1,' * 20_000]
)
@pytest.mark.parametrize("name", ["nothing", "plain", "records", "anything"])
def test_argument_texts_made_to_do_harm_take_little_work(name: str, raw: str) -> None:
    result = within_calls(60_000 + 2 * len(raw), lambda: called(name, raw))
    check_error(name, result)
