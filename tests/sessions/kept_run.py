"""Processes that work on a session and are killed at a chosen point; started by test_session_kill.py.

    python -m tests.sessions.kept_run

Reads jobs from standard input, a line of JSON each, and does each in a process of its own, forked off this one, in
which nothing has run yet. Answers each with the process' exit code. A job has `folder` (the working directory, with
`script.yaml`), `through` ("agent" or "command"), `prompt`, `session` (an id, or null) and `point`: a kind of point,
"before" or "after" it, and which one of its kind. There the process kills itself as `kill -9` would.

It leaves in its folder: `acknowledged` (number and kind of each record that was written), `said` and `ended` (what was
announced: texts of messages, ids of calls that have a result), `markers` (a name for each call that ran), `counts`
(how many points of each kind there were, if it was not killed), and `output`.
"""

from __future__ import annotations

import collections
import json
import os
import signal
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

from hookagent import Agent, current_call
from hookagent.cli import main as command
from hookagent.events import MessageEnd, ToolEnd
from hookagent.keeping import Keeper
from hookagent.messages import UserMessage
from hookagent.providers.scripted import ScriptedProvider
from hookagent.sessions.writer import SessionWriter

TOOLS = ("mark", "steer_too")
_MODULE = "tests.sessions.kept_run"


class Points:
    """Counts the points that a process passes, and kills it at the chosen one."""

    def __init__(self) -> None:
        self.counts: collections.Counter[str] = collections.Counter()
        self.chosen: tuple[str, str, int] | None = None
        self._lock = threading.Lock()

    def begin(self, kind: str) -> int:
        """A point of a kind is reached; gives its number."""
        with self._lock:
            self.counts[kind] += 1
            number = self.counts[kind]
        self._die((kind, "before", number))
        return number

    def end(self, kind: str, number: int) -> None:
        """It is passed."""
        self._die((kind, "after", number))

    def _die(self, point: tuple[str, str, int]) -> None:
        if point == self.chosen:
            os.kill(os.getpid(), signal.SIGKILL)


POINTS = Points()


def _leave(name: str, text: str) -> None:
    """Leave a line in a file; what was written outlives the process."""
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(descriptor, f"{text}\n".encode())
    os.close(descriptor)


def mark(name: str) -> str:
    """Leave a line that says that this ran."""
    number = POINTS.begin("tool")
    _leave("markers", name)
    POINTS.end("tool", number)
    return f"marked {name}"


async def steer_too(name: str) -> str:
    """Queue a message while the round runs."""
    number = POINTS.begin("tool")
    current_call().agent.steer(f"steered by {name}")
    _leave("markers", name)
    POINTS.end("tool", number)
    return f"marked {name}"


def _watch() -> None:
    """Count what is written and what is announced, and write down what was written."""
    insert, keep = SessionWriter._insert, Keeper.__call__

    def counted_insert(writer: SessionWriter, entries: Any) -> None:
        point = POINTS.begin("write")
        first = writer.next_number
        insert(writer, entries)
        for number, (_, kind, _data) in enumerate(entries, first):
            _leave("acknowledged", f"{number} {kind}")
        POINTS.end("write", point)

    def counted_event(keeper: Keeper, event: Any) -> None:
        point = POINTS.begin("event")
        keep(keeper, event)
        if isinstance(event, ToolEnd):
            _leave("ended", event.call.id)
        elif isinstance(event, MessageEnd) and not (isinstance(event.message, UserMessage) and _queued(event.message)):
            _leave("said", event.message.text)
        POINTS.end("event", point)

    SessionWriter._insert = counted_insert  # type: ignore[method-assign, assignment]
    Keeper.__call__ = counted_event  # type: ignore[method-assign, assignment]


def _queued(message: UserMessage) -> bool:
    """Whether a message came from a queue, so that it is written when it has left that too."""
    return message.via == "steer"


def _through_agent(prompt: str, session: str | None) -> int:
    model = ScriptedProvider.from_file("script.yaml")
    limits = {"max_iterations": 99}
    agent = Agent("kept", model=model, tools=[mark, steer_too], limits=limits, session=session, quiet=True)
    result = agent.run_sync(prompt)
    agent.close_sync()
    model.assert_finished()
    print(result.answer)
    return 0 if result.ok else 1


def _through_command(prompt: str, session: str | None) -> int:
    words = ["run", "-q", "-m", "scripted:script.yaml", "-o", "plugins=[]", "-p", "no:human-approval"]
    words += ["--max-iterations", "99", *(word for tool in TOOLS for word in ("-t", f"{_MODULE}:{tool}"))]
    return command([*words, *([] if session is None else ["--session", session]), prompt])


def _work(job: dict[str, Any]) -> int:
    os.chdir(job["folder"])
    nothing, output = os.open(os.devnull, os.O_RDONLY), os.open("output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for descriptor, target in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(descriptor, target)
    os.environ["HOOKAGENT_HOME"] = str(Path("home").absolute())
    POINTS.chosen = tuple(job["point"]) if job["point"] else None
    _watch()
    through = _through_agent if job["through"] == "agent" else _through_command
    code = through(job["prompt"], job["session"])
    Path("counts").write_text(json.dumps(POINTS.counts))
    return code


def serve() -> None:
    """Do the jobs that come in."""
    for line in sys.stdin:
        process = os.fork()
        if not process:
            code = 70
            try:
                code = _work(json.loads(line))
            except BaseException:
                traceback.print_exc()
            sys.stdout.flush()
            os._exit(code)
        _, status = os.waitpid(process, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    # The tools count in the same module whether the agent is given them or the command imports them by name.
    from tests.sessions import kept_run

    kept_run.serve()
