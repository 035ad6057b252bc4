"""The `shell` tool: one command in a process group of its own, with bounded output, ended as a group."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from pathlib import Path
from typing import IO, Any

from hookagent.clock import SYSTEM_CLOCK, Clock
from hookagent.messages import ToolResult
from hookagent.tools.builtin.confined import Root
from hookagent.tools.text import NO_OUTPUT, clean_text
from hookagent.tools.tool import tool

_KEPT = 40_000
_LONGEST_TIMEOUT = 3_600
_DRAIN_SECONDS = 1.0


class ShellTools:
    """The tool that runs commands in `root`. Nothing confines a command: the tool counts as running code."""

    def __init__(self, root: Root, clock: Clock = SYSTEM_CLOCK) -> None:
        self._directory: Path = root.directory
        self._clock = clock

    @tool(effect="runs_code")
    async def shell(self, command: str, timeout_seconds: int = 60) -> ToolResult:
        """Run a shell command.

        Args:
            command: The command, for /bin/sh, run in the working directory without an input.
            timeout_seconds: After how many seconds it is stopped, with all that it started.
        """
        if not command.strip():
            raise ValueError("the command is empty")
        if not 1 <= timeout_seconds <= _LONGEST_TIMEOUT:
            raise ValueError(f"timeout_seconds is {timeout_seconds}; give 1 to {_LONGEST_TIMEOUT}")
        output = _Output(_KEPT)
        # A pipe of our own, since it may have to be closed while somebody still holds its other end.
        read_end, write_end = os.pipe()
        with os.fdopen(read_end, "rb", 0) as source:
            process = await self._start(command, write_end)
            timed_out = await self._watch(process, output, source, timeout_seconds)
        return _result(output.text(), process.returncode, timeout_seconds if timed_out else None)

    async def _start(self, command: str, write_end: int) -> asyncio.subprocess.Process:
        """Start the command, or, where that is given up half-way, see to it that all that it started ends."""

        async def start() -> asyncio.subprocess.Process:
            try:
                return await asyncio.create_subprocess_shell(
                    command,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=write_end,
                    # One stream, so that errors stand where they happened.
                    stderr=write_end,
                    cwd=self._directory,
                    start_new_session=True,
                )
            finally:
                os.close(write_end)

        # In a task of its own: given up in the middle, asyncio would kill the shell and leave what the shell started.
        starting = asyncio.ensure_future(start())
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            starting.add_done_callback(_kill_started)
            await asyncio.wait({starting})
            if not starting.cancelled() and starting.exception() is None:
                # Killed by then: it ends at once, and neither a zombie nor an open transport is left.
                await asyncio.shield(starting.result().wait())
            raise

    async def _watch(
        self, process: asyncio.subprocess.Process, output: _Output, source: IO[bytes], timeout_seconds: int
    ) -> bool:
        """Read what the process writes until it ends or is stopped; return whether it ran out of time."""
        waiting = asyncio.ensure_future(process.wait())
        transport: asyncio.BaseTransport | None = None
        try:
            transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: output, source)
            await self._first(waiting, timeout_seconds)
            timed_out = not waiting.done()
            _kill_group(process.pid)
            await waiting
            # A process that left the group may hold the pipe open: what is there by then is enough.
            await self._first(output.ended, _DRAIN_SECONDS)
            return timed_out
        finally:
            _kill_group(process.pid)
            # Killed or ended: either way it comes at once, and no zombie is left.
            await asyncio.shield(waiting)
            if transport is not None:
                transport.close()

    async def _first(self, future: asyncio.Future[Any], seconds: float) -> None:
        """Wait for `future`, at most `seconds` of the clock; neither its end nor the time's is an error."""
        expired: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def expire() -> None:
            if not expired.done():
                expired.set_result(None)

        handle = self._clock.call_later(seconds, expire)
        futures: set[asyncio.Future[Any]] = {future, expired}
        try:
            await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)
        finally:
            handle.cancel()
            expired.cancel()


class _Output(asyncio.Protocol):
    """What a command wrote: at most `kept` bytes, the first half and the last; `ended` when nobody can write more."""

    def __init__(self, kept: int) -> None:
        self._half = kept // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._size = 0
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended.set_result(None)

    def data_received(self, data: bytes) -> None:
        chunk = data
        self._size += len(chunk)
        room = self._half - len(self._head)
        if room > 0:
            self._head += chunk[:room]
            chunk = chunk[room:]
        self._tail += chunk
        if len(self._tail) > 4 * self._half:
            del self._tail[: -self._half]

    def text(self) -> str:
        tail = bytes(self._tail[-self._half :])
        left_out = self._size - len(self._head) - len(tail)
        if not left_out:
            return clean_text((bytes(self._head) + tail).decode(errors="replace"))
        # Only what the cut itself split is dropped; bytes that are no text stay visible as such.
        head_text = bytes(self._head).decode(errors="replace").rstrip("\ufffd")
        tail_text = tail.decode(errors="replace").lstrip("\ufffd")
        return f"{head_text}\n[… {left_out:,} of {self._size:,} bytes of output left out …]\n{tail_text}"


def _kill_started(starting: asyncio.Future[asyncio.subprocess.Process]) -> None:
    if not starting.cancelled() and starting.exception() is None:
        _kill_group(starting.result().pid)


def _kill_group(group: int) -> None:
    # Also after the command ended by itself: what it left in the background must not run on unseen.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _result(text: str, code: int | None, timed_out: int | None) -> ToolResult:
    body = text.rstrip("\n") or NO_OUTPUT
    if timed_out is not None:
        note = f"[stopped after {timed_out} seconds, with all that it started; what it did until then stays done]"
        return ToolResult(f"{body}\n{note}", True, "error", error_type="TimeLimit")
    if code is not None and code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
        return ToolResult(f"{body}\n[ended by signal {name}]", True, "error", error_type="Signal")
    return ToolResult(f"{body}\n[exit code {code}]", code != 0, "ok" if code == 0 else "error", error_type=None)
