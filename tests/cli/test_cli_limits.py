"""The limits as options of `hookagent run`: each ends a run with 3, its name, what to do, and no words of ours."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import click
import pytest

from hookagent.cli.build import build_agent, read_choices
from hookagent.cli.limit_options import advice, option_name, take_limits
from hookagent.cli.options import Choices
from hookagent.cli.run import run
from hookagent.limits import Limits

# Two equal rounds that cost, then an answer that no limit below lets the model come to.
ROUND = """\
- calls: [{name: list_files, arguments: {}}, {name: list_files, arguments: {path: .}}]
  usage: {input_tokens: 50, cache_read_tokens: 10, output_tokens: 10, cost_usd: 0.3}
"""
LAST = "- 'So far: half.'\n"

# Limit: what is typed behind its option, and what is said when it is hit.
HIT = {
    "max_iterations": ("2", "stopped after 2 iterations: the limit max_iterations is 2"),
    "max_tool_calls": ("3", "stopped after 3 tool calls: the limit max_tool_calls is 3"),
    "max_tokens": ("100", "stopped after 140 tokens: the limit max_tokens is 100"),
    "max_input_tokens": ("120", "stopped after 120 input tokens: the limit max_input_tokens is 120"),
    "max_output_tokens": ("11", "stopped after 20 output tokens: the limit max_output_tokens is 11"),
    "max_cost_usd": ("0.50", "stopped after $0.6000: the limit max_cost_usd is 0.5"),
    "max_seconds": (".000000001", "stopped after 0.0 s: the limit max_seconds is 1e-09"),
    "max_equal_calls": ("2", "stopped after 2 rounds of equal calls and results: the limit max_equal_calls is 2"),
}


def words(script: Any, *options: str) -> list[str]:
    return ["run", "-m", script(ROUND * 2 + LAST), "-t", "list_files", *options, "x"]


def test_every_limit_is_hit_below() -> None:
    assert [*HIT, "closing_answer"] == [one.name for one in fields(Limits)]


@pytest.mark.parametrize("limit", HIT)
def test_a_limit_gives_3_and_says_how_to_raise_it(limit: str, command: Any, script: Any) -> None:
    value, said = HIT[limit]
    got = command(*words(script, option_name(limit), value))
    assert (got.code, got.out) == (3, "")
    *_, why, closing = got.err.splitlines()
    # How long it took is the machine's business.
    assert (
        re.sub(r"after \d\.\d s", "after 0.0 s", why) == f"hookagent: limit: {said}; raise it with {option_name(limit)}"
    )
    assert closing.startswith("ended by a limit after ")


@pytest.mark.parametrize("limit", HIT)
def test_the_last_line_of_json_names_the_limit(limit: str, command: Any, script: Any) -> None:
    value, said = HIT[limit]
    got = command(*words(script, "--json", option_name(limit), value))
    result = json.loads(got.out.splitlines()[-1])
    assert (result["status"], result["limit"], result["exit_code"], got.code) == ("limit", limit, 3, 3)
    assert (result["reason"], result["errors"]) == (said, [said])


@pytest.mark.parametrize("limit", [name for name in HIT if name != "max_seconds"])
def test_a_closing_answer_goes_to_stdout_and_the_code_stays_3(limit: str, command: Any, script: Any) -> None:
    value, said = HIT[limit]
    got = command(*words(script, "--closing-answer", option_name(limit), value))
    assert (got.code, got.out) == (3, "So far: half.\n")
    assert f"hookagent: limit: {said}; " in got.err


def test_an_option_wins_over_the_configuration_and_the_rest_of_it_stays(
    command: Any, script: Any, folder: Path
) -> None:
    (folder / "hookagent.yaml").write_text("limits: {max_tokens: 100, max_tool_calls: 3, closing_answer: true}\n")
    choices = Choices(tools=("list_files",), model=script(LAST), limits={"max_tokens": 5_000, "closing_answer": False})
    agent = build_agent(read_choices(choices), choices)
    assert agent.limits == Limits(max_tokens=5_000, max_tool_calls=3)
    got = command(*words(script, "--no-closing-answer"))
    assert (got.code, got.out) == (3, "")


def test_no_limit_in_the_configuration_is_no_limit_of_the_agent(script: Any, folder: Path) -> None:
    (folder / "hookagent.yaml").write_text("limits: {max_iterations: null}\n")
    choices = Choices(tools=("list_files",), model=script(LAST))
    assert build_agent(read_choices(choices), choices).limits == Limits(max_iterations=None)


def test_a_limit_on_costs_without_a_known_price_is_an_error_at_the_start(
    command: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a key that is never sent")
    got = command("run", "-q", "-m", "anthropic:my-own-model", "-t", "list_files", "--max-cost-usd", "1", "x")
    assert (got.code, got.out) == (2, "")
    assert got.err.startswith("hookagent: error: limits.max_cost_usd: the price of 'anthropic:my-own-model' is unknown")


def test_a_price_that_turns_out_unknown_is_not_to_be_raised(command: Any, script: Any) -> None:
    model = script(ROUND.replace("cost_usd: 0.3", "cost_usd: null") + LAST)
    got = command("run", "-m", model, "-t", "list_files", "--max-cost-usd", "1", "x")
    assert got.code == 3
    assert (
        "hookagent: limit: stopped after a model call whose price is unknown: the limit max_cost_usd is 1; "
        "leave it out, or limit tokens with --max-tokens\n"
    ) in got.err


def test_a_limit_without_an_option_gets_no_advice() -> None:
    assert advice("model_settings.max_output_tokens", "the answer was cut") == ""
    assert advice(None, "") == ""


def test_every_limit_has_an_option_of_its_name() -> None:
    options = {one.name: one for one in run.params if isinstance(one, click.Option)}
    for one in fields(Limits):
        assert options[one.name].opts == [option_name(one.name)]
        assert options[one.name].help
    assert options["closing_answer"].secondary_opts == ["--no-closing-answer"]


def test_only_what_was_given_is_taken_and_nothing_is_left_behind() -> None:
    chosen = {"file": "a.yaml", "max_tokens": 5, "max_seconds": None, "closing_answer": False}
    assert take_limits(chosen) == {"max_tokens": 5, "closing_answer": False}
    assert chosen == {"file": "a.yaml"}
