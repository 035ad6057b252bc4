"""Nothing is imported before it is used: what a program, an agent, a run and each command leave in `sys.modules`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Set
from pathlib import Path

import pytest

from hookagent.testing import Call, Reply, StrictServer
from tests.shows.processes import before_python_path, run_process, user_variables

SDKS = {"anthropic", "openai", "httpx2"}
HEAVY = SDKS | {"genai_prices", "pydantic", "yaml", "rich", "docstring_parser", "platformdirs"}
# The plugins that the wheel packs, and the engine of one of them.
PACKED = {
    *("hookagent_context_window", "hookagent_human_approval", "hookagent_local"),
    *("hookagent_reflection", "hookagent_tool_logging", "needle"),
}
CANARY = "a_plugin_that_nobody_asked_for"

# Runs the code in its second argument and writes the modules that it brought to the file in its first.
DRIVER = """
import sys
report, code = sys.argv.pop(1), sys.argv.pop(1)
before = set(sys.modules)
try:
    exec(code)
finally:
    brought = sorted(set(sys.modules) - before)
    import json
    with open(report, "w") as file:
        json.dump(brought, file)
"""
COMMAND = "from hookagent.cli import main; sys.exit(main())"

Brought = Callable[..., Set[str]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working directory, empty."""
    here = tmp_path / "here"
    here.mkdir()
    return here


@pytest.fixture
def brought(tmp_path: Path, folder: Path) -> Brought:
    """Runs code in a new process and gives the modules it brought, beside an installed plugin that nobody enabled."""
    site = tmp_path / "site"
    metadata = site / "hookagent_canary-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: hookagent-canary\nVersion: 1.0\n")
    groups = ("hookagent", "hookagent.providers", "hookagent.commands")
    (metadata / "entry_points.txt").write_text("".join(f"[{group}]\ncanary = {CANARY}\n\n" for group in groups))
    (site / f"{CANARY}.py").write_text(
        "import hookagent\n\n\n@hookagent.hookimpl\ndef before_llm():\n    return None\n"
    )
    report = tmp_path / "brought.json"

    def run(code: str, *arguments: str, code_wanted: int = 0, **variables: str) -> Set[str]:
        environment = user_variables(tmp_path, {"PYTHONPATH": before_python_path(site), **variables})
        done = run_process([sys.executable, "-c", DRIVER, report, code, *arguments], folder, environment)
        assert done.returncode == code_wanted, done.stderr
        return frozenset(json.loads(report.read_text()))

    return run


def test_import_hookagent_brings_nothing_but_itself_and_small_parts_of_the_standard_library(brought: Brought) -> None:
    found = brought("import hookagent; hookagent.__all__; dir(hookagent)")
    assert {name.partition(".")[0] for name in found} - sys.stdlib_module_names == {"hookagent"}
    assert {name for name in found if name.startswith("hookagent")} == {"hookagent"}
    assert found.isdisjoint({"asyncio", "dataclasses", "importlib.metadata", "inspect", "logging", "ssl", "subprocess"})


def test_values_bring_neither_pluggy_nor_asyncio(brought: Brought) -> None:
    found = brought("from hookagent import Deny, Stop, ToolCall, Transcript, Usage, UserMessage")
    assert "hookagent.transcript" in found
    assert found.isdisjoint(HEAVY | {"asyncio", "pluggy"})


AGENT = """
from hookagent import Agent, hookimpl
from hookagent.providers import ScriptedProvider

def count(words: list[str], limit: int = 3) -> str:
    '''Count words.

    Args:
        words: The words.
    '''
    return str(len(words))

@hookimpl
def before_llm(iteration):
    return None

agent = Agent(tools=[count], model=ScriptedProvider(["Hello."]), plugins=[before_llm])
"""


def test_an_agent_of_functions_is_built_without_an_sdk_pydantic_or_yaml(brought: Brought) -> None:
    found = brought(AGENT)
    assert "hookagent.agent" in found
    assert found.isdisjoint(SDKS | PACKED | {"pydantic", "yaml", "rich", "genai_prices", CANARY})


def test_an_agent_without_tools_runs_without_them_too(brought: Brought) -> None:
    found = brought(AGENT.replace("tools=[count]", "tools=[]") + "assert str(agent.run_sync('Say it.')) == 'Hello.'")
    assert "hookagent.loop.turn" in found
    # A run keeps its session, and asks the platform for the folder.
    assert found.isdisjoint((HEAVY - {"platformdirs"}) | PACKED | {CANARY})


@pytest.mark.parametrize(
    ("model", "used", "unused"),
    [
        ("anthropic:claude-sonnet-5", "anthropic", "openai"),
        ("openai:gpt-5", "openai", "anthropic"),
        ("openai-chat:gpt-5", "openai", "anthropic"),
    ],
)
def test_a_run_with_one_vendor_never_imports_the_other(
    model: str, used: str, unused: str, brought: Brought, folder: Path
) -> None:
    (folder / "README.md").write_text("one two three\n")
    replies = [Reply(calls=[Call("count_words", {"path": "README.md"})]), Reply(text="Three.")]
    words = ["run", "-m", model, "-t", "count_words", "How many words are in README.md?"]
    with StrictServer(replies) as server:
        found = brought(
            COMMAND,
            *words,
            ANTHROPIC_API_KEY="k",
            ANTHROPIC_BASE_URL=server.anthropic_url,
            OPENAI_API_KEY="k",
            OPENAI_BASE_URL=server.openai_url,
        )
        assert (server.remaining, server.refused, server.failures) == (0, [], [])
    assert used in found
    assert unused not in found
    assert found.isdisjoint({CANARY, "hookagent_local", "hookagent_reflection", "needle"})


@pytest.mark.parametrize(
    "words",
    [["--help"], ["--version"], ["run", "--help"], ["plugins", "--help"], ["config", "show", "--help"]],
    ids=" ".join,
)
def test_help_and_version_bring_no_sdk_no_pydantic_no_plugin_and_no_agent(words: list[str], brought: Brought) -> None:
    found = brought(COMMAND, *words)
    assert "click" in found
    assert found.isdisjoint(HEAVY | PACKED | {CANARY, "asyncio", "hookagent.agent", "hookagent.host", "pluggy"})


def test_what_is_typed_wrongly_is_said_without_them_too(brought: Brought) -> None:
    found = brought(COMMAND, "rnu", code_wanted=2)
    assert found.isdisjoint(HEAVY | PACKED | {CANARY, "asyncio", "pluggy"})


def test_the_list_of_plugins_imports_only_those_that_are_enabled(brought: Brought) -> None:
    none = ("-p", "no:tool-logging", "-p", "no:context-window", "-p", "no:human-approval")
    found = brought(COMMAND, "plugins", "list", *none)
    assert found.isdisjoint(SDKS | PACKED | {CANARY, "hookagent.agent"})
    assert CANARY in brought(COMMAND, "plugins", "list", *none, "-p", "canary")


def test_a_run_imports_only_the_plugins_it_enables(brought: Brought, folder: Path) -> None:
    (folder / "replies.yaml").write_text("- Yes.\n")
    words = ("run", "-m", "scripted:replies.yaml", "-t", "count_words", "Well?")
    found = brought(COMMAND, *words)
    assert found.isdisjoint(SDKS | {CANARY, "hookagent_local", "hookagent_reflection", "needle"})
    assert CANARY in brought(COMMAND, *words, "-p", "canary")
