import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hookagent.clock import SystemClock
from hookagent.messages import ToolResult
from hookagent.tools.builtin.confined import Root
from hookagent.tools.builtin.shell import ShellTools


class Expiring(SystemClock):
    """A clock whose timers of `seconds` run out once `when` is there; all others never."""

    def __init__(self, seconds: float, when: Path) -> None:
        self._seconds = seconds
        self._when = when

    def call_later(self, seconds: float, callback: Callable[[], object]) -> Any:
        def look() -> None:
            if self._when.exists() and self._when.read_text().endswith("\n"):
                callback()
            else:
                asyncio.get_running_loop().call_later(0.005, look)

        if seconds == self._seconds:
            return asyncio.get_running_loop().call_later(0, look)
        return asyncio.get_running_loop().call_later(600, callback)


def run(directory: Path, command: str) -> ToolResult:
    return asyncio.run(ShellTools(Root(directory)).shell(command))


def gone(process_id: int) -> bool:
    """Whether the process has ended; a killed one may need a moment, and stay as a zombie that nobody waits for."""
    for _ in range(100_000):
        try:
            os.kill(process_id, 0)
            state = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0]
        except ProcessLookupError:
            return True
        except FileNotFoundError:
            # Ended between the two looks, or there is no /proc here: look again.
            continue
        if state in "ZX":
            return True
        os.sched_yield()
    return False


@pytest.mark.parametrize(
    ("command", "content", "is_error"),
    [
        ("echo hi", "hi\n[exit code 0]", False),
        ("echo out; echo err >&2; echo out again", "out\nerr\nout again\n[exit code 0]", False),
        ("exit 3", "(no output)\n[exit code 3]", True),
        ("cat", "(no output)\n[exit code 0]", False),
        ("kill -9 $$", "(no output)\n[ended by signal SIGKILL]", True),
        ("printf 'a\\377b'", "a\ufffdb\n[exit code 0]", False),
    ],
)
def test_output_and_exit_code_are_shown(command: str, content: str, is_error: bool, tmp_path: Path) -> None:
    result = run(tmp_path, command)
    assert (result.content, result.is_error) == (content, is_error)
    assert result.status == ("error" if is_error else "ok")


def test_a_command_runs_in_the_root(tmp_path: Path) -> None:
    assert run(tmp_path, "pwd").content == f"{tmp_path.resolve()}\n[exit code 0]"


def test_large_output_keeps_head_and_tail(tmp_path: Path) -> None:
    content = run(tmp_path, "echo first; head -c 1000000 /dev/zero | tr '\\0' x; echo; echo last").content
    assert content.startswith("first\nx")
    assert content.endswith("x\nlast\n[exit code 0]")
    assert len(content) < 41_000
    assert "[… 960,012 of 1,000,012 bytes of output left out …]" in content


def test_what_is_left_in_the_background_is_ended_with_the_command(tmp_path: Path) -> None:
    content = run(tmp_path, "sleep 600 & echo $!").content
    assert gone(int(content.split("\n")[0]))


def test_a_command_that_overruns_is_killed_with_all_that_it_started(tmp_path: Path) -> None:
    tools = ShellTools(Root(tmp_path), Expiring(7, tmp_path / "pid"))
    result = asyncio.run(tools.shell("sleep 600 & echo $! > pid; echo before; wait", timeout_seconds=7))
    assert result.content.startswith("before\n[stopped after 7 seconds")
    assert (result.is_error, result.error_type) == (True, "TimeLimit")
    assert gone(int((tmp_path / "pid").read_text()))


def test_a_cancelled_command_is_killed_with_all_that_it_started(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "ready")

    async def main() -> int:
        task = asyncio.create_task(ShellTools(Root(tmp_path)).shell("sleep 600 & echo $! > ready; wait"))
        # Opening the pipe waits until the command writes to it.
        process_id = int(await asyncio.to_thread((tmp_path / "ready").read_text))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return process_id

    assert gone(asyncio.run(main()))


def test_a_command_that_is_cancelled_while_it_starts_is_killed_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "ready")
    start = asyncio.create_subprocess_shell

    async def main() -> tuple[int, int | None]:
        go_on = asyncio.Event()
        started: list[asyncio.subprocess.Process] = []

        async def slowly(*arguments: Any, **options: Any) -> asyncio.subprocess.Process:
            started.append(await start(*arguments, **options))
            await go_on.wait()
            return started[0]

        monkeypatch.setattr(asyncio, "create_subprocess_shell", slowly)
        task = asyncio.create_task(ShellTools(Root(tmp_path)).shell("sleep 600 & echo $! > ready; wait"))
        process_id = int(await asyncio.to_thread((tmp_path / "ready").read_text))
        task.cancel()
        await asyncio.sleep(0)
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        return process_id, await started[0].wait()

    process_id, code = asyncio.run(main())
    assert code == -signal.SIGKILL
    assert gone(process_id)


@pytest.mark.parametrize(("command", "seconds"), [("", 60), ("  ", 60), ("true", 0), ("true", 10_000)])
def test_bad_arguments_are_refused(command: str, seconds: int, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"empty|timeout_seconds"):
        asyncio.run(ShellTools(Root(tmp_path)).shell(command, seconds))
