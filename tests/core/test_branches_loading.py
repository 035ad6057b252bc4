"""Putting an agent together: what an interrupt, an odd name, a price and a set of limits do there."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from typing import Any, cast

import pydantic
import pytest

from hookagent import Agent, ConfigurationError, PluginLoadError, hookimpl
from hookagent.assembly import check_priced, register_plugin_tools
from hookagent.discovery import Installed, installed
from hookagent.host import load_plugins
from hookagent.limits import Limits
from hookagent.providers.base import Provider
from hookagent.providers.scripted import ScriptedProvider
from hookagent.tools.registry import ToolRegistry
from hookagent.validation import check_plugin
from tests.core.scripts import make_agent, ok


class Looks:
    name = "looks"

    @hookimpl
    def before_llm(self, iteration: int) -> None:
        """Do nothing."""


# ---- plugins ----


class Points:
    """An entry point whose module does something when it is imported."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def load(self) -> Any:
        raise self.error


def test_an_interrupt_while_a_plugin_is_imported_is_no_fault_of_the_plugin() -> None:
    interrupted = Installed("slow", "hookagent-slow 1.0", "slow:plugin", cast(Any, Points(KeyboardInterrupt())))
    with pytest.raises(KeyboardInterrupt):
        interrupted.load()
    broken = Installed("slow", "hookagent-slow 1.0", "slow:plugin", cast(Any, Points(SystemExit(3))))
    with pytest.raises(PluginLoadError, match=r"'slow' \(hookagent-slow 1\.0\): cannot be imported from 'slow:plugin'"):
        broken.load()


@pytest.mark.parametrize(
    ("raised", "seen"), [("KeyboardInterrupt", KeyboardInterrupt), ("SystemExit", PluginLoadError)]
)
def test_an_interrupt_while_a_dotted_module_is_imported_passes(
    raised: str, seen: type[BaseException], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "interrupting").mkdir()
    (tmp_path / "interrupting" / "__init__.py").write_text("")
    (tmp_path / "interrupting" / "plugin.py").write_text(f"raise {raised}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    try:
        with pytest.raises(seen):
            load_plugins(["interrupting.plugin"])
    finally:
        sys.modules.pop("interrupting", None)


def test_a_plugin_whose_name_cannot_be_read_is_called_after_its_class() -> None:
    class Shy:
        @property
        def name(self) -> str:
            raise ValueError("not yet")

        @hookimpl
        def before_llm(self, iteration: int) -> None:
            """Do nothing."""

    assert [one.name for one in load_plugins([Shy()])] == ["Shy"]


@pytest.mark.parametrize("name", ["", None, 5])
def test_a_name_that_is_no_text_counts_for_none(name: Any) -> None:
    plugin = Looks()
    plugin.name = name
    assert [one.name for one in load_plugins([plugin])] == ["Looks"]


def test_a_class_that_turns_up_as_a_plugin_is_guessed_wherever_it_comes_from() -> None:
    with pytest.raises(PluginLoadError) as raised:
        check_plugin("looks", "hookagent-looks 1.0", Looks)
    assert str(raised.value) == (
        "plugin 'looks' (hookagent-looks 1.0): a class was given where an instance is meant (forgotten the ()?)"
    )


def test_options_for_a_plugin_that_has_none_are_refused_by_name(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "optionless.py").write_text(
        "from hookagent import hookimpl\n\n\nclass Plugin:\n    @hookimpl\n    def before_llm(self): pass\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))

    class Entry:
        def load(self) -> Any:
            return importlib.import_module("optionless").Plugin

    found = Installed("optionless", "hookagent-optionless 2.0", "optionless:Plugin", cast(Any, Entry()))
    monkeypatch.setattr("hookagent.discovery.installed", lambda group="hookagent": (found,))
    assert [one.distribution for one in load_plugins(["optionless"])] == ["hookagent-optionless 2.0"]
    with pytest.raises(
        PluginLoadError, match=r"'optionless' \(hookagent-optionless 2\.0\): takes no options, but was "
    ):
        load_plugins([{"optionless": {"colour": "red"}}])
    sys.modules.pop("optionless", None)


def test_a_plugin_whose_distribution_cannot_be_read_is_there_all_the_same(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        name = "hookagent-broken"

        @property
        def version(self) -> str:
            raise KeyError("Version")

    class Point:
        name, value, dist = "broken", "broken:plugin", Broken()

    class Alone:
        name, value, dist = "alone", "alone:plugin", None

    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [Point(), Alone(), Point()])
    found = installed("hookagent.tested.broken")
    assert [(one.name, one.distribution) for one in found] == [
        ("alone", "unknown distribution"),
        ("broken", "unknown distribution"),
    ]


def test_bad_options_are_told_by_whoever_knows_their_places(monkeypatch: pytest.MonkeyPatch) -> None:
    class Plugin(Looks):
        class Options(pydantic.BaseModel):
            ask: list[str] = []

        def __init__(self, options: Any) -> None:
            self.options = options

    class Entry:
        def load(self) -> Any:
            return Plugin

    found = Installed("looks", "hookagent-looks 1.0", "looks:Plugin", cast(Any, Entry()))
    monkeypatch.setattr("hookagent.discovery.installed", lambda group="hookagent": (found,))
    [loaded] = load_plugins([{"looks": {"ask": ["shell"]}}])
    assert loaded.plugin.options.ask == ["shell"]
    with pytest.raises(PluginLoadError, match=r"'looks' \(hookagent-looks 1\.0\): bad options: ask: Input should be"):
        load_plugins([{"looks": {"ask": 5}}])

    def problem(name: str, error: Exception) -> Exception:
        return ConfigurationError(f"agent.yaml:4:3: {name}: {type(error).__name__}")

    with pytest.raises(ConfigurationError, match=r"^agent\.yaml:4:3: looks: ValidationError$"):
        load_plugins([{"looks": {"ask": 5}}], options_problem=problem)


# ---- tools of plugins ----


def test_tools_that_a_plugin_registers_again_take_the_place_of_those_before() -> None:
    made: list[int] = []

    class Brings:
        name = "brings"

        @hookimpl
        def register_tools(self, register: Any) -> None:
            made.append(len(made))

            def look() -> str:
                """Look."""
                return "seen"

            register(look)

    agent = make_agent([], Brings(), tools=[ok])
    registry: ToolRegistry = agent.tools
    first = registry.get("look")
    register_plugin_tools(agent._hooks, registry)
    assert made == [0, 1]
    assert (registry.names, registry.owner("look"), registry.owner("ok")) == (("ok", "look"), "brings", None)
    assert registry.get("look") is not first


def test_an_interrupt_while_a_plugin_registers_tools_passes() -> None:
    class Slow:
        name = "slow"

        @hookimpl
        def register_tools(self, register: Any) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Agent(plugins=[Slow()], model=ScriptedProvider([]), log=False, quiet=True)


# ---- limits and prices ----


@dataclass
class Priced:
    """What a limit on costs looks at in a provider."""

    name: str
    model: str
    wire: str | None = "anthropic-messages"


def test_a_limit_on_costs_needs_a_price() -> None:
    limits = Limits(max_cost_usd=0.5)
    check_priced(cast(Provider, Priced("anthropic", "claude-sonnet-4-5")), limits)
    check_priced(cast(Provider, Priced("own", "model", None)), limits)
    check_priced(cast(Provider, Priced("own", "model")), Limits())
    with pytest.raises(ConfigurationError) as raised:
        check_priced(cast(Provider, Priced("own", "model")), limits)
    assert str(raised.value) == (
        "limits.max_cost_usd: the price of 'own:model' is unknown, so the limit could not hold; leave it out, or "
        "limit tokens with max_tokens"
    )


def test_limits_are_taken_as_they_are_and_none_means_the_usual_ones() -> None:
    limits = Limits(max_iterations=3, max_seconds=2.5)
    assert Limits.of(limits) is limits
    assert Limits.of(None) == Limits()
    assert make_agent([], limits=limits).session.limits is limits
    with pytest.raises(ConfigurationError, match=r"^limits: expected a mapping or Limits, got 5$"):
        Limits.of(cast(Any, 5))
