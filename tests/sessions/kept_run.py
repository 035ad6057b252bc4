"""A process that works on a kept session and is killed at a chosen write; started by test_session_kill.py.

    python -m tests.sessions.kept_run FOLDER ROUNDS KILL_AT before|after|never

Before or after the KILL_AT-th write it kills itself as `kill -9` would. Each tool call leaves a line in `markers`.
Each acknowledged record is printed.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from hookagent.sessions.store import SessionStore
from hookagent.sessions.writer import SessionWriter
from tests.sessions.wiring import kept_agent

SESSION = "kept-one"


def main(folder: Path, rounds: int, kill_at: int, when: str) -> None:
    original = SessionWriter._insert
    writes = 0

    def insert(writer: SessionWriter, entries: Any) -> None:
        nonlocal writes
        writes += 1
        if writes == kill_at and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        first = writer.next_number
        original(writer, entries)
        for number, (_, kind, _data) in enumerate(entries, first):
            print(number, kind, flush=True)
        if writes == kill_at and when == "after":
            os.kill(os.getpid(), signal.SIGKILL)

    SessionWriter._insert = insert  # type: ignore[method-assign, assignment]

    def mark(name: str) -> str:
        """Leave a line that says that this ran."""
        with (folder / "markers").open("a") as file:
            file.write(f"{name}\n")
        return f"marked {name}"

    async def steer_too(name: str) -> str:
        """Queue a message while the round runs; in the loop's thread, so that the writes come one by one."""
        agent.steer(f"steered by {name}")
        return mark(name)

    store = SessionStore(folder / "home")
    if kill_at:
        script: list[Any] = []
        for number in range(rounds):
            second = "steer_too" if number % 2 else "mark"
            calls = [("mark", f"a{number}"), (second, f"b{number}")]
            made = [{"name": tool, "arguments": {"name": name}, "id": f"call-{name}"} for tool, name in calls]
            script.append({"text": f"round {number}", "calls": made})
        agent = kept_agent(
            store, SESSION, [*script, "all done"], tools=[mark, steer_too], limits={"max_iterations": 99}
        )
        result = agent.run_sync("go through it")
    else:
        # The steering that was left over comes in with the prompt, so that it takes one reply or two.
        agent = kept_agent(store, SESSION, lambda request: "back again", resume=True)
        result = agent.run_sync("go on")
    print("answer", result.status, result.answer, flush=True)
    if agent.journal is not None:
        agent.journal.close()
    store.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
