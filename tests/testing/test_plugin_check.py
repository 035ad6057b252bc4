"""The one line that proves a plugin: good ones pass it, whatever they do, and one by name is found as it should be."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from checks.tally import count
from hookagent import (
    Amend,
    AssistantMessage,
    Deny,
    ProviderError,
    Replace,
    Stop,
    TextPart,
    Tool,
    ToolResult,
    discovery,
    hookimpl,
)
from hookagent.testing import PluginReport, Recorder, check_plugin
from hookagent.testing.plugin_check.runs import RUNS
from tests.core.plugin_making import Around, hook, made
from tests.testing.refusing import refusal


def remember(word: str) -> str:
    """Remember a word.

    Args:
        word: which one.
    """
    return word


class Busy:
    """Does in every hook what it may do there, by session."""

    name = "busy"

    def __init__(self) -> None:
        self.prompts: dict[str, str] = {}

    @hookimpl
    def register_tools(self, register: Any) -> None:
        register(Tool.from_callable(remember, effect="reads"))

    @hookimpl
    def after_user_input(self, message: Any, session: Any) -> Any:
        self.prompts[session.id] = message.text
        return [Replace(replace(message, text=f"{message.text} Please.")), "be brief"]

    @hookimpl
    def before_llm(self, iteration: int) -> Any:
        return f"iteration {iteration}" if iteration == 2 else None

    @hookimpl
    def shape_request(self, request: Any) -> Any:
        return request.with_note("the day is long")

    @hookimpl
    async def wrap_model_call(self, request: Any, call_next: Any) -> Any:
        return await call_next(request)

    @hookimpl
    def after_llm(self, response: Any) -> Any:
        return [Replace(response.changed(text=response.text.upper())), "noted"] if response.tool_calls else None

    @hookimpl
    def before_each_tool(self, tool_call: Any) -> Any:
        return Amend({"item": "quince"}) if tool_call.name == "reference_look" else None

    @hookimpl
    async def wrap_tool_call(self, tool_call: Any, call_next: Any) -> Any:
        return await call_next()

    @hookimpl
    def after_each_tool(self, result: Any) -> Any:
        return replace(result, content=f"{result.content} (looked at)")

    @hookimpl
    def after_tools(self, session: Any) -> Any:
        return f"remember: {self.prompts[session.id]}"

    @hookimpl
    async def on_complete(self, outcome: Any) -> Any:
        return f"it was {outcome.status}"


@pytest.mark.parametrize(
    "plugin",
    [Busy, Busy(), lambda: Busy(), Recorder(), hook(lambda agent: None, specname="on_session_start")],
    ids=["class", "object", "maker", "recorder", "function"],
)
def test_a_good_plugin_passes_in_any_form(plugin: Any) -> None:
    report = check_plugin(plugin)
    on_wires = [run.name for run in RUNS if run.on_wires]
    assert isinstance(report, PluginReport)
    assert len(report.runs) == len(RUNS) + 3 * len(on_wires)
    assert report.requests > 50
    count("requests checked", report.requests)


@pytest.mark.parametrize(
    "plugin",
    [
        made("stopping", before_llm=lambda iteration: Stop("no more") if iteration == 2 else None),
        made("denying", before_each_tool=lambda tool_call: Deny("not today")),
        made("unanswering", before_each_tool=lambda tool_call: Deny("nobody is there", unanswered=True)),
        made("refusing", after_user_input=lambda message: Stop("not that")),
        made("stopping late", after_tools=lambda tool_round: Stop("enough")),
        Around("answering itself", tool=lambda call, call_next: _answered()),
        Around("answering for the model", model=lambda request, call_next: _replied()),
        Around("falling back", model=lambda request, call_next: _fallen_back(request, call_next)),
        made("amending alike", before_each_tool=lambda tool_call: _alike(tool_call)),
    ],
    ids=lambda plugin: plugin.name,
)
def test_a_plugin_may_end_a_run_by_its_verdicts(plugin: Any) -> None:
    assert check_plugin(plugin).plugin == plugin.name


async def _answered() -> ToolResult:
    return ToolResult("from memory")


async def _replied() -> AssistantMessage:
    return AssistantMessage((TextPart("from memory"),))


async def _fallen_back(request: Any, call_next: Any) -> Any:
    try:
        return await call_next(request)
    except ProviderError:
        return await _replied()


def _alike(tool_call: Any) -> Amend | None:
    return Amend({"item": "[hidden]"}) if "item" in (tool_call.arguments or {}) else None


# ---- by name ----

MODULE = """
from pydantic import BaseModel, ConfigDict
from hookagent import hookimpl

class Plugin:
    class Options(BaseModel):
        model_config = ConfigDict(extra="{extra}")
        word: str = "well"

    def __init__(self, options):
        self.options = options

    @hookimpl
    def after_tools(self):
        return self.options.word
"""


OPTIONLESS = """
from hookagent import hookimpl

class Plugin:
    @hookimpl
    def after_tools(self):
        return "well"

@hookimpl
def after_tools():
    return "well"

class Hook:
    after_tools = staticmethod(after_tools)

hook = Hook()
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Install a distribution with the plugin `tried`, also for the processes that the check starts."""

    def install_one(
        extra: str = "forbid", entries: tuple[str, ...] = ("tried_plugin:Plugin",), module: str = MODULE
    ) -> Path:
        (tmp_path / "tried_plugin.py").write_text(module.format(extra=extra))
        for number, entry in enumerate(entries):
            metadata = tmp_path / f"hookagent_tried{number}-1.0.dist-info"
            metadata.mkdir()
            (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: hookagent-tried{number}\nVersion: 1.0\n")
            (metadata / "entry_points.txt").write_text(f"[hookagent]\ntried = {entry}\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        path = os.environ.get("PYTHONPATH")
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *([path] if path else [])]))
        discovery.installed.cache_clear()
        return tmp_path

    yield install_one
    sys.modules.pop("tried_plugin", None)
    discovery.installed.cache_clear()


def test_a_good_plugin_passes_by_its_name(install: Any) -> None:
    install()
    assert check_plugin("tried", {"word": "good"}).plugin == "tried"


@pytest.mark.parametrize("entry", ["tried_plugin:Plugin", "tried_plugin", "tried_plugin:hook"])
def test_a_plugin_without_options_passes_by_its_name(install: Any, entry: str) -> None:
    install(entries=(entry,), module=OPTIONLESS)
    assert check_plugin("tried").plugin == "tried"


def test_options_that_take_anything_are_refused(install: Any) -> None:
    install("ignore")
    text = refusal("tried", options={"word": "good"})
    assert "loading: an unknown option must be an error that names its place (agent.yaml:5:)" in text
    assert "extra='forbid'" in text


def test_bad_options_of_the_check_itself_are_said(install: Any) -> None:
    install()
    assert "no agent can be made with it: bad options: wrod: " in refusal("tried", options={"wrod": "good"})


def test_a_plugin_that_is_imported_though_nobody_enabled_it_is_refused(install: Any) -> None:
    folder = install()
    (folder / "sitecustomize.py").write_text("import tried_plugin\n")
    assert "loading: its module 'tried_plugin' was imported although nobody enabled it" in refusal("tried")


def test_a_name_that_none_or_two_offer_is_refused(install: Any) -> None:
    assert "loading: it must be found by one entry point of the group 'hookagent', but none" in refusal("tried")
    install(entries=("tried_plugin:Plugin", "tried_plugin:Other"))
    assert "but 2 offer it (tried_plugin:Other, tried_plugin:Plugin)" in refusal("tried")
