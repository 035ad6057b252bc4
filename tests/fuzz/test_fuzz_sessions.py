"""Every file that sessions leave, with bytes flipped, cut and overwritten: the command works, or says why it cannot."""

from __future__ import annotations

import asyncio
import io
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from checks.tally import FULL, size
from hookagent import Agent, Suspend, hookimpl
from hookagent.cli import main
from hookagent.keeping import session_store
from hookagent.limits import Limits
from hookagent.sessions.errors import SessionError
from hookagent.sessions.restore import restore
from hookagent.testing import ScriptedProvider
from tests.fuzz.effort import counted
from tests.sessions.replaying import check_transcript

SCRIPT = "- calls: [{name: list_files, arguments: {}}]\n- Done.\n- Done again.\n"


class Outcome(NamedTuple):
    """What a command gave."""

    code: int
    out: str
    err: str


class Template(NamedTuple):
    """A home folder as runs left it, with what is still in the -wal file, and the ids of its sessions."""

    home: Path
    files: tuple[str, ...]
    ids: tuple[str, ...]


def look(item: str) -> str:
    """Look at something."""
    return f"{item} is there, " + "and more of it " * 40


def leave(folder: Path) -> Template:
    """Make sessions: one of two turns, one that waits for an answer, a fork; and copy all of it while it is open."""

    @hookimpl
    def before_each_tool(tool_call: Any) -> Any:
        return Suspend("sure?") if tool_call.arguments.get("item") == "secret" else None

    def call(item: str, *more: str) -> dict[str, Any]:
        return {"text": "I look.", "calls": [{"name": "look", "arguments": {"item": one}} for one in (item, *more)]}

    scripts: dict[str, list[Any]] = {
        "talks": [call("apple", "pear"), "There is an apple.", call("plum"), "There is a plum."],
        "waits": [call("fig"), call("apple", "secret")],
    }
    ids: list[str] = []
    agents: list[Agent] = []

    async def work() -> None:
        for name, script in scripts.items():
            agent = Agent(name, tools=[look], model=ScriptedProvider(script), plugins=[before_each_tool], quiet=True)
            agents.append(agent)
            ids.append(agent.session.id)
            await agent.run(f"{name} about fruit " + "at length " * 30)
            if name == "talks":
                await agent.run("And plums?")
            agent.follow_up("a last word")
        # What comes now stays in the -wal file.
        ids.append(session_store().fork(ids[0], at_turn=1))

    asyncio.run(work())
    copy = folder / "copy"
    shutil.copytree(folder / "home", copy)
    for agent in agents:
        agent.close_sync()
    session_store().close()
    files = sorted(str(path.relative_to(copy)) for path in copy.rglob("*") if path.is_file() and path.stat().st_size)
    return Template(copy, tuple(files), tuple(ids))


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Template]:
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("template")
        patch.setenv("HOOKAGENT_HOME", str(folder / "home"))
        yield leave(folder)


def command(*words: str) -> Outcome:
    """Run the command in this process, with nothing to read and nobody at the terminal."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b""), encoding="utf-8"))
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        code = main(words)
    texts = [stream.buffer.getvalue().decode("utf-8", "strict") for stream in (out, err)]
    return Outcome(code, *texts)


def check(words: tuple[str, ...], codes: tuple[int, ...] = (0, 1, 2)) -> Outcome:
    """The command ends with one of the codes and says why in our words; nothing else comes out."""
    got = command(*words)
    assert got.code in codes, (words, got)
    assert "Traceback" not in got.out + got.err, (words, got.err)
    assert len(got.err) < 20_000
    if got.code == 2:
        assert got.out == ""
        assert all(line.startswith("hookagent: error: ") for line in got.err.splitlines() if line[:1].strip()), got.err
    if got.code:
        assert got.err or got.out
    return got


def look_through(ids: tuple[str, ...]) -> None:
    """Everything that reads or changes sessions, by the command; then all that can be restored is valid."""
    for words in (("list", "--all"), ("list", "--all", "--json"), ("verify",)):
        got = check(("sessions", *words))
        if "--json" in words and got.code == 0:
            json.loads(got.out)
    for one in ids:
        for words in (("show", one), ("verify", one), ("fork", one)):
            check(("sessions", *words))
        for form in ("jsonl", "yaml", "markdown"):
            got = check(("sessions", "export", one, "-f", form))
            if form == "jsonl" and got.code == 0:
                assert all(isinstance(json.loads(line), dict) for line in got.out.splitlines())
        try:
            restored = restore(session_store().read(one), Limits())
        except SessionError:
            continue
        check_transcript(restored.state.transcript)
    options = ("-q", "-m", "scripted:replies.yaml", "-t", "list_files", "-o", "plugins=[]")
    check(("run", *options, "--session", ids[0], "Go on."), (0, 1, 2, 4))
    check(("run", *options, "--continue", "Go on."), (0, 1, 2, 4))
    check(("sessions", "rm", "--yes", *ids))
    check(("sessions", "list"))


PLACES = st.integers(0, 200_000)
DAMAGES = st.one_of(
    st.tuples(st.just("flip"), PLACES, st.integers(0, 7)),
    st.tuples(st.just("noise"), PLACES, st.binary(min_size=1, max_size=64)),
    st.tuples(st.just("zero"), PLACES, st.sampled_from([1, 300, 5000])),
    st.tuples(st.just("cut"), PLACES, st.none()),
    st.tuples(st.just("put"), PLACES, st.binary(min_size=1, max_size=40)),
    st.tuples(st.just("gone"), PLACES, st.none()),
)


def damage(data: bytes, kind: str, place: int, what: Any) -> bytes | None:
    """The bytes of a file after one damage; None when the file is gone."""
    spot = place % max(1, len(data))
    changed = bytearray(data)
    match kind:
        case "flip":
            if changed:
                changed[spot] ^= 1 << what
        case "noise":
            changed[spot : spot + len(what)] = what
        case "zero":
            changed[spot : spot + what] = bytes(len(changed[spot : spot + what]))
        case "cut":
            del changed[spot:]
        case "put":
            changed[spot:spot] = what
        case _:
            return None
    return bytes(changed)


def use(template: Template, folder: Path, damages: list[tuple[int, tuple[str, int, Any]]]) -> None:
    """Damage a copy of the template, and look through it."""
    counted()
    number = sum(1 for _ in folder.iterdir())
    home, here = folder / f"home{number}", folder / f"here{number}"
    shutil.copytree(template.home, home)
    here.mkdir()
    (here / "replies.yaml").write_text(SCRIPT)
    for which, how in damages:
        path = home / template.files[which % len(template.files)]
        left = damage(path.read_bytes(), *how) if path.exists() else None
        if left is None:
            path.unlink(missing_ok=True)
        else:
            path.write_bytes(left)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOOKAGENT_HOME", str(home))
        patch.setenv("HOME", str(folder))
        patch.delenv("HOOKAGENT_PLUGINS", raising=False)
        patch.chdir(here)
        try:
            look_through(template.ids)
        finally:
            session_store().close()
    shutil.rmtree(home)


def test_the_template_has_all_kinds_of_files(template: Template) -> None:
    endings = {Path(name).suffix for name in template.files}
    assert "sessions.sqlite" in template.files
    assert "sessions.sqlite-wal" in template.files
    assert endings >= {".sqlite", ".yaml", ".log"}, template.files


def test_what_is_whole_works(template: Template, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    use(template, tmp_path, [])
    shutil.copytree(template.home, tmp_path / "whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOOKAGENT_HOME", str(tmp_path / "whole"))
        assert command("sessions", "verify") == Outcome(0, "", "no problems\n")
        assert len(json.loads(command("sessions", "list", "--all", "--json").out)) == 3
        assert "a last word" in command("sessions", "export", template.ids[0], "-f", "jsonl").out
        session_store().close()


@settings(
    max_examples=size(12, 400),
    deadline=None,
    derandomize=not FULL,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(damages=st.lists(st.tuples(st.integers(0, 20), DAMAGES), min_size=1, max_size=5))
@example(damages=[(number, ("cut", 0, None)) for number in range(12)])
@example(damages=[(number, ("noise", 0, b"\x00" * 64)) for number in range(12)])
@example(damages=[(number, ("gone", 0, None)) for number in range(12)])
@example(damages=[(number, ("put", 50, b"\xff\xfe\x00{: ")) for number in range(12)])
def test_any_damage_to_any_file_is_survived(
    damages: list[tuple[int, tuple[str, int, Any]]], template: Template, tmp_path: Path
) -> None:
    use(template, tmp_path, damages)


@pytest.mark.parametrize("kind", ["cut", "zero", "flip", "noise"])
def test_each_file_alone(kind: str, template: Template, tmp_path: Path) -> None:
    what: Any = {"zero": 4096, "flip": 3, "noise": bytes(range(64))}.get(kind)
    for which in range(len(template.files)):
        for place in (0, 25, 100, 4096 + 100) if size(0, 1) else (20,):
            use(template, tmp_path, [(which, (kind, place, what))])
