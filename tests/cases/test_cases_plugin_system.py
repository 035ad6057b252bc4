"""Public cases about plugins: broken ones, misspelt ones, doubled ones, and those that are switched off."""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path
from typing import Any

import pytest

from hookagent import Agent, PluginError, PluginLoadError, hookimpl
from hookagent.testing import Reply, ScriptedProvider, StrictServer
from tests.core.plugin_making import Around, made
from tests.core.scripts import calls, make_agent
from tests.shows.processes import run_process, user_variables

BROKEN = {
    "a missing module": ("import nothing_like_this", "ModuleNotFoundError: No module named 'nothing_like_this'"),
    "a syntax error": ("def broken(:", "SyntaxError: "),
    "an exit": ("raise SystemExit(3)", "SystemExit: 3"),
    "an interrupted import": ("raise GeneratorExit", "GeneratorExit"),
    "a version conflict": ("raise ImportError('needs pluggy>=99')", "ImportError: needs pluggy>=99"),
    "an old pluggy": (
        "import pluggy\nraise pluggy.PluginValidationError(None, 'pluggy is too old')",
        "PluginValidationError: pluggy is too old",
    ),
}


def hook_module(mark: str = "") -> str:
    """A plugin that says on standard error that it was asked."""
    return (
        f"import sys\n{mark}\nfrom hookagent import hookimpl\nclass Plugin:\n    @hookimpl\n"
        "    def before_llm(self, iteration): print('asked', __name__, file=sys.stderr)\n"
    )


@pytest.mark.parametrize("broken", BROKEN)
def test_plg_01_a_plugin_that_cannot_be_imported_harms_no_other(
    broken: str, command: Any, site: Any, script: Any
) -> None:
    text, reason = BROKEN[broken]
    site.plugin("good1", hook_module())
    site.plugin("broken", text)
    site.plugin("good2", hook_module())
    model = script("- Yes.\n")
    run = ["run", "-m", model, "-t", "read_file", "-p", "good1", "-p", "good2"]
    assert command("--help").code == 0
    rows = command("plugins", "list", "--json", "-p", "good1", "-p", "broken", "-p", "good2")
    assert rows.code == 0
    states = {row["name"]: (row["state"], row["reason"]) for row in json.loads(rows.out)}
    assert states["good1"] == states["good2"] == ("enabled", None)
    assert states["broken"][0] == "broken"
    assert reason in states["broken"][1]
    done = command(*run, "x")
    assert (done.code, done.out) == (0, "Yes.\n")
    assert done.err.count("asked good1_module") == done.err.count("asked good2_module") == 1
    refused = command(*run, "-p", "broken", "x")
    assert (refused.code, refused.out) == (2, "")
    assert "plugin 'broken' (hookagent-broken 1.0): cannot be imported" in refused.err
    assert reason in refused.err


@pytest.mark.parametrize("broken", BROKEN)
def test_plg_04_every_loading_error_names_plugin_distribution_and_version(broken: str, site: Any) -> None:
    text, reason = BROKEN[broken]
    site.plugin("p1", text, "p1-pkg")
    with pytest.raises(PluginLoadError) as caught:
        Agent(plugins=["p1"])
    assert (caught.value.plugin, caught.value.distribution) == ("p1", "p1-pkg 1.0")
    assert str(caught.value).startswith("plugin 'p1' (p1-pkg 1.0): ")
    assert reason in str(caught.value)


@pytest.mark.parametrize("around", ["model", "tool"])
@pytest.mark.parametrize("outers", [1, 3])
def test_plg_05_every_outer_wrapper_cleans_up_once_and_the_one_that_raised_is_named(around: str, outers: int) -> None:
    log: list[str] = []

    def cleaning(number: int) -> Any:
        async def wrap(given: Any, call_next: Any) -> Any:
            try:
                return await (call_next() if around == "tool" else call_next(given))
            finally:
                log.append(f"outer{number} cleaned up")

        return Around(f"outer{number}", **{around: wrap})

    async def raising(given: Any, call_next: Any) -> Any:
        await (call_next() if around == "tool" else call_next(given))
        raise RuntimeError("after the call")

    failed = made("host", on_error=lambda error, tool_call: log.append("the host knows"))
    wrappers = [cleaning(number) for number in range(outers)]
    agent = make_agent([calls("ok"), "done"], *wrappers, Around("inner", **{around: raising}), failed)
    with pytest.raises(PluginError) as caught:
        agent.run_sync("go")
    assert caught.value.plugin == "inner"
    cleaned = [f"outer{number} cleaned up" for number in reversed(range(outers))]
    assert log[:outers] == cleaned
    assert [line for line in log if line.endswith("cleaned up")] == cleaned
    assert "after the call" in str(caught.value)
    assert log.index("the host knows") >= outers
    assert agent.session.transcript.open_round is None


@pytest.mark.parametrize("option", ["wrapper", "hookwrapper"])
def test_plg_05_wrappers_of_the_plugin_library_are_refused_with_the_way_on(option: str) -> None:
    def before_llm(iteration: int) -> Any:
        yield

    options: Any = {option: True}
    with pytest.raises(PluginLoadError, match=r"is a pluggy wrapper, which cannot await .*implement 'wrap_model_call'"):
        Agent(plugins=[hookimpl(**options)(before_llm)])


def run_translated() -> tuple[Agent, PluginError, list[BaseException]]:
    """A tool that raises 'real' below two around hooks that each make something else of it; what `on_error` saw."""
    seen: list[BaseException] = []

    def failing() -> str:
        """Fail."""
        raise ValueError("real")

    async def first(tool_call: Any, call_next: Any) -> Any:
        result = await call_next()
        assert "real" in result.content
        raise KeyError("w1")

    async def second(tool_call: Any, call_next: Any) -> Any:
        try:
            return await call_next()
        except Exception as error:
            raise RuntimeError("w2") from error

    agent = make_agent(
        [calls("failing"), "done"],
        Around("w2", second),
        Around("w1", first),
        made("watcher", on_error=lambda error, tool_call: seen.append(error)),
        tools=[failing],
    )
    with pytest.raises(PluginError) as caught:
        agent.run_sync("go")
    return agent, caught.value, seen


def test_plg_06_the_first_failure_of_a_plugin_is_the_one_that_is_raised_and_the_call_has_its_result() -> None:
    agent, error, _ = run_translated()
    assert (error.plugin, repr(error.__cause__)) == ("w1", "KeyError('w1')")
    (round_,) = [block for block in agent.session.transcript if hasattr(block, "results")]
    assert [(result.call_id, result.is_error) for result in round_.results if result] == [("c1", True)]


def test_plg_06_what_really_happened_stays_reachable_behind_translated_errors() -> None:
    agent, _, seen = run_translated()
    assert any(isinstance(error, ValueError) and str(error) == "real" for error in seen)
    assert any("real" in event.message for event in agent.session.trace if event.type == "error")


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("on_after_tol", "after_tools"),
        ("befor_llm", "before_llm"),
        ("after_each_tools", "after_each_tool"),
        ("on_completed", "on_complete"),
        ("wrap_model_cal", "wrap_model_call"),
    ],
)
def test_plg_08_a_misspelt_hook_is_refused_with_the_nearest_name(
    wrong: str, right: str, site: Any, command: Any, script: Any
) -> None:
    site.plugin("slip", f"from hookagent import hookimpl\nclass Plugin:\n    @hookimpl\n    def {wrong}(self): pass\n")
    got = command("run", "-m", script("- Yes.\n"), "-t", "read_file", "-p", "slip", "x")
    assert got.code == 2
    assert f"plugin 'slip' (hookagent-slip 1.0): unknown hook '{wrong}'; did you mean '{right}'?" in got.err


def test_plg_08_a_hook_marked_as_optional_is_accepted() -> None:
    class Plugin:
        @hookimpl(optionalhook=True)
        def hook_of_another_version(self) -> None:
            raise AssertionError("nobody calls it")

        @hookimpl
        def before_llm(self) -> None:
            return None

    assert Agent(model=ScriptedProvider(["done"]), plugins=[Plugin()]).run_sync("go").ok


@pytest.mark.parametrize("argument", ["colour", "tool_cal", "ctx", "self_"])
def test_plg_09_an_argument_that_a_hook_does_not_have_is_refused_by_name(
    argument: str, site: Any, command: Any, script: Any
) -> None:
    head = "from hookagent import hookimpl\nclass Plugin:\n    @hookimpl\n"
    site.plugin("asks", f"{head}    def before_each_tool(self, tool_call, {argument}): pass\n")
    site.plugin("good", hook_module())
    model = script("- Yes.\n")
    run = ["run", "-m", model, "-t", "read_file", "-p", "good"]
    refused = command(*run, "-p", "asks", "x")
    assert refused.code == 2
    assert "plugin 'asks' (hookagent-asks 1.0): " in refused.err
    assert f"hook 'before_each_tool' has no argument '{argument}'" in refused.err
    done = command(*run, "x")
    assert (done.code, done.err.count("asked good_module")) == (0, 1)


def test_plg_11_two_distributions_of_one_name_are_both_named_and_one_can_be_chosen(
    site: Any, command: Any, script: Any
) -> None:
    site.plugin("gate", hook_module(), "pkg-a")
    site.module("other_gate", hook_module())
    site.install("pkg-b", "2.0", {"hookagent": {"gate": "other_gate:Plugin"}})
    site.folder.joinpath("gates").mkdir()
    site.folder.joinpath("gates", "__init__.py").write_text("")
    site.folder.joinpath("gates", "second.py").write_text(
        "import sys\nfrom hookagent import hookimpl\n@hookimpl\n"
        "def before_llm(): print('asked', __name__, file=sys.stderr)"
    )
    run = ["run", "-m", script("- Yes.\n"), "-t", "read_file"]
    refused = command(*run, "-p", "gate", "x")
    assert refused.code == 2
    assert "pkg-a 1.0 and pkg-b 2.0" in refused.err
    assert "asked" not in refused.err
    chosen = command(*run, "-p", "gates.second", "x")
    assert (chosen.code, chosen.err.count("asked gates.second")) == (0, 1)


@pytest.mark.parametrize(
    ("listed", "options"),
    [
        ("[logger, logger]", []),
        ("[logger, {logger: {}}]", []),
        ("[logger]", ["-p", "logger"]),
        ("[]", ["-p", "logger"]),
    ],
)
def test_plg_13_a_plugin_named_twice_is_refused_or_runs_once(
    listed: str, options: list[str], site: Any, command: Any, script: Any, folder: Path
) -> None:
    site.plugin("logger", hook_module())
    (folder / "hookagent.yaml").write_text(f"plugins: {listed}\n")
    got = command("run", "-m", script("- Yes.\n"), "-t", "read_file", *options, "x")
    if listed.count("logger") == 2:
        assert (got.code, got.err.count("asked")) == (2, 0)
        assert "hookagent.yaml:1:" in got.err
        assert "logger" in got.err
        assert "twice" in got.err
    else:
        assert (got.code, got.err.count("asked logger_module")) == (0, 1)


def test_plg_13_the_log_has_one_line_for_each_thing_that_happened(caplog: pytest.LogCaptureFixture) -> None:
    from hookagent_tool_logging import ToolLogging

    agent = make_agent([calls("ok", "ok"), "done"], ToolLogging())
    with pytest.raises(PluginLoadError, match="twice"):
        make_agent([], ToolLogging(), ToolLogging())
    with caplog.at_level(logging.DEBUG, "hookagent.tools"):
        agent.run_sync("go")
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == len(set(lines)) == 4


MARK = "open({mark!r}, 'w').close()"


@pytest.mark.parametrize(
    "words",
    [["--help"], ["--version"], ["plugins", "list"], ["run", "--help"], ["run", "-t", "read_file", "-p", "on1", "x"]],
    ids=" ".join,
)
def test_plg_14_what_is_not_switched_on_is_never_imported(
    words: list[str], site: Any, command: Any, script: Any
) -> None:
    mark = site.folder / "imported"
    site.plugin("on1", hook_module())
    site.plugin("off1", hook_module(MARK.format(mark=str(mark))))
    model = ["-m", script("- Yes.\n")] if words[0] == "run" else []
    assert command(words[0], *model, *words[1:]).code == 0
    assert not mark.exists()
    assert "off1_module" not in sys.modules


PROBE = """\
import sys
from hookagent.cli import main
code = main(sys.argv[1:])
print("loaded", *sorted({"anthropic", "openai", "genai_prices"} & set(sys.modules)), file=sys.stderr)
sys.exit(code)
"""


@pytest.mark.parametrize(("model", "other"), [("anthropic:claude-sonnet-5", "openai"), ("openai:gpt-5", "anthropic")])
def test_plg_14_only_the_sdk_of_the_model_that_answers_is_imported(model: str, other: str, tmp_path: Path) -> None:
    vendor = model.partition(":")[0].upper()
    with StrictServer([Reply(text="Yes.")]) as server:
        url = server.anthropic_url if vendor == "ANTHROPIC" else server.openai_url
        variables = user_variables(tmp_path, {f"{vendor}_API_KEY": "k", f"{vendor}_BASE_URL": url})
        words = ["run", "-m", model, "-t", "read_file", "-o", "plugins=[]", "task"]
        done = run_process([sys.executable, "-c", PROBE, *words], tmp_path, variables)
        assert server.refused == []
    assert (done.returncode, done.stdout) == (0, "Yes.\n")
    loaded = done.stderr.splitlines()[-1].split()
    assert loaded[0] == "loaded"
    assert model.partition(":")[0] in loaded
    assert other not in loaded
