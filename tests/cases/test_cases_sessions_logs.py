"""Public cases about sessions and logs: ids, two writers, full disks, secrets, what long sessions cost, compactions."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hookagent import Agent, ConfigurationError, ToolRound
from hookagent.keeping import session_store
from hookagent.sessions.errors import SessionBusyError, SessionError
from hookagent.sessions.store import SessionStore
from hookagent.testing import Fault, ScriptedProvider, StrictServer
from hookagent_context_window import ContextWindow
from tests.cases.checked_model import CheckedModel
from tests.sessions.looking import Failing
from tests.shows.processes import PATIENCE_SECONDS, user_variables

pytestmark = pytest.mark.usefixtures("home")

BAD_IDS = ["../../x", "a/b", "..", ".", "", "a\0b", "x" * 300, "a b", "a\\b", "~", "%2e", "é", "a\n", "C:x", "a.b"]
GOOD_IDS = ["ok-1_A", "con", "-x", "0" * 64]


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.parametrize("session", BAD_IDS)
def test_log_06_an_id_that_could_be_a_path_is_refused_everywhere(session: str, tmp_path: Path, command: Any) -> None:
    before = files(tmp_path)
    store = session_store()
    uses = (store.find, store.row, store.read, store.writer, store.remove, store.fork, store.verify)
    for use in uses:
        with pytest.raises(SessionError, match=r"session id .*: expected 1 to 64 letters"):
            use(session)
    with pytest.raises(ConfigurationError):
        Agent(model=CheckedModel(["never"]), session=session)
    if "\0" not in session:
        got = command("run", "--session", session, "-m", "scripted:gone.yaml", "x")
        assert (got.code, got.out) == (2, "")
    assert {path for path in files(tmp_path) - before if "locks" not in path} == set()


@pytest.mark.parametrize("session", GOOD_IDS)
def test_log_06_other_ids_work_in_all_uses(session: str) -> None:
    store = session_store()
    agent = Agent(model=CheckedModel(["answer"]))
    agent.run_sync("go")
    agent.close_sync()
    assert store.fork(agent.session.id, new_id=session) == session
    assert store.verify(session) == ()
    again = Agent(model=CheckedModel(["more"]), session=session)
    assert again.run_sync("on").answer == "more"
    again.close_sync()
    assert len(again.session.transcript) == 4
    store.remove(session)
    assert [one.id for one in store.list()] == [agent.session.id]


@pytest.mark.parametrize("name", ["../evil", "a/b", "..", "", "con", "a\0b", "x" * 300, "é" * 90])
def test_log_06_an_agents_name_writes_nothing_outside_of_the_folder(name: str, tmp_path: Path, home: Path) -> None:
    agent = Agent(name, model=CheckedModel(["answer"]))
    agent.run_sync("go")
    agent.close_sync()
    assert all(path == home.name or path.startswith(f"{home.name}/") for path in files(tmp_path))
    for folder in ("logs", "sessions"):
        (file,) = (home / folder).iterdir()
        assert file.is_file()
        assert file.stem.lower() != "con"


WRITER = """\
import sys
from hookagent import Agent
from hookagent.sessions.errors import SessionBusyError
from hookagent.testing import ScriptedProvider
try:
    agent = Agent("w", model=ScriptedProvider(lambda request: "answer"), session=sys.argv[1])
except SessionBusyError as error:
    print("busy", error, flush=True)
    sys.exit()
print("has it", flush=True)
sys.stdin.readline()
for number in range(30):
    agent.run_sync(f"{sys.argv[2]} {number}")
print("written", flush=True)
sys.stdin.readline()
"""


def writer(session: str, name: str, home: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, session, name],
        env=user_variables(home.parent, {"HOOKAGENT_HOME": str(home)}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def tell(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def test_log_08_of_two_processes_one_has_the_session_until_it_is_gone(home: Path) -> None:
    agent = Agent("w", model=CheckedModel(["answer"]))
    agent.run_sync("go")
    agent.close_sync()
    session = agent.session.id
    with writer(session, "first", home) as first:
        assert line_of(first) == "has it"
        with writer(session, "second", home) as second:
            assert line_of(second).startswith(f"busy session '{session}': is in use by process {first.pid} on ")
        with pytest.raises(SessionBusyError):
            Agent(model=CheckedModel(["never"]), session=session)
        tell(first)
        assert line_of(first) == "written"
        first.send_signal(signal.SIGKILL)
        first.wait(timeout=PATIENCE_SECONDS)
    # A lock that a dead process left blocks nobody.
    again = Agent(model=CheckedModel(["more"]), session=session)
    texts = [getattr(message, "text", "") for message in again.session.transcript.messages()]
    assert [text for text in texts if text != "answer"] == ["go", *(f"first {number}" for number in range(30))]
    assert again.run_sync("on").ok
    again.close_sync()


@pytest.mark.parametrize("first", range(1, 7))
@pytest.mark.parametrize("length", [1, 3])
def test_log_10_a_full_disk_is_said_at_once_and_nothing_is_lost_of_what_follows(
    first: int, length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def t(n: int) -> str:
        """Do something."""
        return f"did {n}"

    Failing(monkeypatch, *range(first, first + length))
    script = [{"calls": [{"name": "t", "arguments": {"n": number}}]} for number in range(4)]
    agent = Agent(tools=[t], model=CheckedModel([*script, "the answer"]))
    result = agent.run_sync("go")
    assert (result.status, result.answer, result.errors) == ("completed", "the answer", ())
    (warning,) = result.warnings
    assert "cannot be saved" in warning
    assert "database or disk is full" in warning
    agent.close_sync()
    records = session_store().read(agent.session.id)
    assert [record.number for record in records] == list(range(1, len(records) + 1))
    again = Agent(tools=[t], model=CheckedModel([]), session=agent.session.id)
    assert again.session.transcript == agent.session.transcript
    again.close_sync()


SECRET = "sk-test-SECRET123"


@pytest.mark.parametrize("wire", ["anthropic", "openai"])
@pytest.mark.parametrize("form", [["--debug"], ["--debug", "--json"], []], ids=" ".join)
def test_log_11_a_key_is_in_no_file_and_in_no_output(
    wire: str, form: list[str], command: Any, home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vendor = wire.upper()
    said = f"401 for header 'x-api-key: {SECRET}', Authorization: Bearer {SECRET}"
    with StrictServer([Fault(status=401, message=said)] * 4) as server:
        monkeypatch.setenv(f"{vendor}_API_KEY", SECRET)
        monkeypatch.setenv(f"{vendor}_BASE_URL", server.anthropic_url if wire == "anthropic" else server.openai_url)
        model = "anthropic:claude-sonnet-5" if wire == "anthropic" else "openai:gpt-5"
        got = command("run", *form, "-m", model, "-t", "read_file", "x")
        assert server.refused == []
    assert got.code == 1
    assert "401" in got.err
    assert "SECRET123" not in got.out + got.err
    kept = [path for path in [*home.rglob("*"), *folder.rglob("*")] if path.is_file()]
    assert any(path.suffix == ".log" for path in kept)
    assert [path.name for path in kept if b"SECRET123" in path.read_bytes()] == []


def test_log_14_each_record_is_written_once_whatever_the_length(home: Path) -> None:
    def much() -> str:
        """Give a kilobyte."""
        return "x" * 1_000

    rounds = 300
    costs: list[int] = []
    statements: list[str] = []

    def step(request: Any) -> Any:
        costs.append(sum(map(len, statements)))
        statements.clear()
        return {"calls": [{"name": "much"}]} if len(costs) < rounds else "end"

    agent = Agent(tools=[much], model=ScriptedProvider(step), limits={"max_iterations": None})
    with session_store().database.using() as connection:
        connection.set_trace_callback(statements.append)
    assert agent.run_sync("go").answer == "end"
    with session_store().database.using() as connection:
        connection.set_trace_callback(None)
    agent.close_sync()
    session_store().close()
    size = SessionStore(home).path.stat().st_size
    assert sum(costs) < 2 * size
    assert size < 3 * rounds * 1_000 + 100_000
    # From the second round to the last all cost the same, but for the digits of what is counted.
    assert max(costs[2:]) - min(costs[2:]) < 100
    assert min(costs[2:]) > 1_000
    for file in (home / "logs").iterdir():
        assert file.stat().st_size < 2 * rounds * 1_500


@pytest.mark.parametrize("strategy", ["drop", "clear_results", "summarize"])
def test_log_17_a_compaction_is_not_undone_by_a_resume(strategy: Any) -> None:
    def look(number: int) -> str:
        """Look."""
        return f"<{number}>" + "r" * 400

    def agent_on(model: CheckedModel, session: str | None = None) -> Agent:
        options = ContextWindow.Options(strategy=strategy, model=side, keep_rounds=1, compact_at=80, target=50)
        return Agent(tools=[look], model=model, plugins=[ContextWindow(options)], session=session)

    side = CheckedModel(lambda request: "THE SUMMARY")
    script = [{"calls": [{"name": "look", "arguments": {"number": number}}]} for number in range(8)]
    first = CheckedModel([*script, "left"], window=1_600)
    agent = agent_on(first)
    assert agent.run_sync("TASK-1").answer == "left"
    agent.close_sync()
    asked = len(side.requests)
    second = CheckedModel(["back"], window=1_600)
    again = agent_on(second, agent.session.id)
    assert again.run_sync("Go on.").answer == "back"
    again.close_sync()
    before, after = first.requests[-1], second.requests[0]
    assert (after.blocks.start, after.summary, len(side.requests)) == (before.blocks.start, before.summary, asked)
    assert (before.summary is not None) == (strategy == "summarize")
    assert dict(after.blocks.replaced) == dict(before.blocks.replaced)
    assert before.blocks.start > 0 or before.blocks.replaced
    # What was left out of the requests is still in the file, all of it.
    records = session_store().read(agent.session.id)
    assert sum(record.kind == "result" for record in records) == 8
    assert any(record.kind == "compaction" for record in records) == (strategy != "clear_results")
    assert sum(isinstance(block, ToolRound) for block in again.session.transcript) == 8


def test_log_17_a_fork_of_before_the_compaction_has_the_whole_history() -> None:
    agent = Agent(model=CheckedModel(["one", "two", "three"], window=5_000), plugins=[ContextWindow()])
    agent.run_sync("TASK-1 " + "t" * 6_000)
    agent.run_sync("TASK-2 " + "t" * 8_000)
    agent.run_sync("TASK-3 " + "t" * 6_000)
    agent.close_sync()
    forked = session_store().fork(agent.session.id, at_turn=1)
    model = CheckedModel(["back"], window=50_000)
    again = Agent(model=model, plugins=[ContextWindow()], session=forked)
    assert again.run_sync("Go on.").answer == "back"
    again.close_sync()
    assert [block.text[:6] for block in model.requests[0].blocks if hasattr(block, "text")] == [
        "TASK-1",
        "one",
        "Go on.",
    ]
