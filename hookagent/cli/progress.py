"""What a run is doing, on standard error: one line drawn again and again on a terminal, plain lines elsewhere.

While a question is open, from `resolve_start` to `resolve_end`, there is no line: a plugin may ask a person then, on
the same terminal.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hookagent.cli.closing import amount
from hookagent.cli.console import Console
from hookagent.cli.masking import masked_value
from hookagent.counting import counted

if TYPE_CHECKING:
    from hookagent.events import Event
    from hookagent.messages import ToolCall, ToolResult

_TICK_SECONDS = 1.0
_LONGEST_ARGUMENTS = 300
_LONGEST_ERROR = 200


class Progress:
    """A listener that tells what happens; with `verbose`, one line per call and per report of a hook too.

    `monotonic` gives seconds. `tool_calls` and `denied` count the calls that have a result.
    """

    def __init__(
        self, console: Console, *, quiet: bool, verbose: bool, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._console, self._quiet, self._verbose = console, quiet, verbose
        self._monotonic = monotonic
        self._start = monotonic()
        self._lock = threading.RLock()
        self._where = ""
        self._tokens = 0
        self._running: dict[str, str] = {}
        self._drawn = False
        self._asking = 0
        self.tool_calls = 0
        self.denied = 0

    def __call__(self, event: Event) -> None:
        """Follow one event."""
        with self._lock:
            follow = getattr(self, f"_on_{event.type}", None)
            if event.type == "tool_end":
                self.tool_calls += 1
                self.denied += event.result.status == "denied"
            if follow is not None and not self._quiet:
                follow(event)

    def tick(self) -> None:
        """Draw the line anew, if it stands: its seconds have passed."""
        with self._lock:
            if self._drawn:
                self._draw()

    def stop(self) -> None:
        """Take the line away."""
        with self._lock:
            self._drawn = False
            self._console.erase_status()

    def _draw(self) -> None:
        if self._asking:
            return
        parts = [self._where] if self._where else []
        if self._running:
            names = list(self._running.values())
            parts.append(names[0] if len(names) == 1 else f"{len(names)} tools")
        if self._tokens:
            parts.append(f"{amount(self._tokens)} tokens")
        parts.append(f"{self._monotonic() - self._start:.0f} s")
        self._drawn = True
        self._console.status(" · ".join(parts) if self._console.redraws else "")

    def _on_iteration_start(self, event: Any) -> None:
        most = f" of {event.maximum}" if event.maximum is not None else ""
        self._where = f"iteration {event.iteration}{most}"
        if not self._console.redraws:
            tokens = f", {amount(self._tokens)} tokens" if self._tokens else ""
            self._console.say(f"{self._where}{tokens}, {self._monotonic() - self._start:.1f} s")

    def _on_request(self, event: Any) -> None:
        self._draw()

    def _on_message_delta(self, event: Any) -> None:
        # Text is being written where the line would stand.
        if event.kind == "text" and self._console.live:
            self.stop()

    def _on_response(self, event: Any) -> None:
        self._tokens += event.usage.total_tokens
        self.tick()

    def _on_resolve_start(self, event: Any) -> None:
        self.stop()
        self._asking += 1

    def _on_resolve_end(self, event: Any) -> None:
        self._asking -= 1
        self._draw()

    def _on_nested(self, event: Any) -> None:
        who, inner = innermost(event)
        if inner.type == "resolve_start":
            self._on_resolve_start(inner)
        elif inner.type == "resolve_end":
            self._on_resolve_end(inner)
        elif inner.type == "tool_end" and self._verbose:
            self.stop()
            self._console.say(f"{who}: {call_line(inner.call, inner.result)}")
            self._draw()

    def _on_tool_start(self, event: Any) -> None:
        self._running[event.call.id] = event.call.name
        self._draw()

    def _on_tool_progress(self, event: Any) -> None:
        if self._verbose:
            self._console.say(f"tool {event.call.name}: {_short(event.value, _LONGEST_ERROR)}")

    def _on_tool_end(self, event: Any) -> None:
        self._running.pop(event.call.id, None)
        self.stop()
        if self._verbose:
            self._console.say(call_line(event.call, event.result))
        if self._running:
            self._draw()

    def _on_retry(self, event: Any) -> None:
        self._console.say(f"retry {event.attempt} in {event.wait_seconds:.1f} s: {event.error}")

    def _on_compaction(self, event: Any) -> None:
        summary = ", the rest as a summary" if event.summary else ""
        counts = f"{event.blocks_after} of {counted(event.blocks_before, 'block')} sent"
        self._console.say(f"{event.plugin}: {counts}{summary}")

    def _on_hook(self, event: Any) -> None:
        # Who waits for a person is not slow.
        slow = event.outcome in ("slow", "overran") and event.hook != "resolve_suspended"
        if self._verbose or slow:
            detail = f" ({event.detail})" if event.detail else ""
            self._console.say(
                f"hook {event.hook} of {event.plugin}: {event.outcome}{detail}, {event.milliseconds:.1f} ms"
            )


class Ticker:
    """Calls `tick` of a progress each second, from a thread of its own, for as long as it is entered."""

    def __init__(self, progress: Progress, console: Console) -> None:
        self._progress = progress
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="hookagent-ticker", daemon=True)
        self._wanted = console.redraws

    def __enter__(self) -> Ticker:
        if self._wanted:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._wanted:
            self._thread.join()
        self._progress.stop()

    def _run(self) -> None:
        while not self._ended.wait(_TICK_SECONDS):
            self._progress.tick()


def innermost(event: Any) -> tuple[str, Any]:
    """What a `nested` event tells of in the end, and the agents that it comes from, the outermost first."""
    names = []
    while event.type == "nested":
        names.append(event.agent)
        event = event.event
    return " > ".join(names), event


def call_line(call: ToolCall, result: ToolResult) -> str:
    """One line on a call that has its result: name, arguments (masked, bounded), status, time, and what went wrong."""
    if call.arguments is None:
        arguments = _short(call.raw or "", _LONGEST_ARGUMENTS)
    else:
        pairs = (f"{name}={_json(value)}" for name, value in masked_value(call.arguments).items())
        arguments = _short(", ".join(pairs), _LONGEST_ARGUMENTS)
    time_taken = f", {result.milliseconds:.0f} ms" if result.milliseconds is not None else ""
    why = f": {_short(result.content, _LONGEST_ERROR)}" if result.status != "ok" else ""
    return f"tool {call.name}({arguments}): {result.status.replace('_', ' ')}{time_taken}{why}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _short(value: object, limit: int) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= limit else f"{text[:limit]}…"
