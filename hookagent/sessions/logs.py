"""The two files that people read: a text log per agent, and a YAML log per session. Both are listeners.

Each is one writer that only appends; failures to write are said once and never raised. Secrets are masked in texts
about failures; what was said in the conversation stands as it was said.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hookagent.events import (
    AgentStart,
    Compaction,
    ErrorEvent,
    Event,
    HookReport,
    MessageEnd,
    Retry,
    ToolEnd,
    ToolStart,
    TurnEnd,
    TurnStart,
)
from hookagent.frozen import thaw
from hookagent.masking import Masker
from hookagent.messages import UserMessage
from hookagent.sessions.append_file import AppendFile
from hookagent.sessions.places import safe_name
from hookagent.sessions.plain import one_line, plain_cost, plain_message, plain_tokens
from hookagent.sessions.yaml_text import yaml_lines
from hookagent.tools.text import to_text

_LONGEST = 2_000
_LONGEST_ARGUMENTS = 500


class TextLog:
    """One line for each thing that happened, in `<home>/logs/<agent>.log`, which all sessions of the agent share.

    `wall` gives seconds since the epoch; `warn` hears once of a file that cannot be written.
    """

    def __init__(
        self,
        home: Path,
        agent: str,
        session_id: str,
        *,
        warn: Callable[[str], object] | None = None,
        wall: Callable[[], float] = time.time,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self.file = AppendFile(home / "logs" / f"{safe_name(agent)}.log", warn)
        self._session = session_id
        self._wall = wall
        self._masked = Masker(environment)

    def __call__(self, event: Event) -> None:
        """Write the line of an event, if it has one."""
        text = self._line(event)
        if text is not None:
            moment = _moment(self._wall())
            self.file.append(f"{moment} {one_line(self._session, 64)} turn {event.turn} {one_line(text, _LONGEST)}\n")

    def close(self) -> None:
        """Close the file."""
        self.file.close()

    def _line(self, event: Event) -> str | None:
        match event:
            case AgentStart():
                return f"run of '{event.agent}' with {event.model}"
            case TurnStart():
                return "turn begins" if event.prompt else "turn begins without a prompt"
            case MessageEnd():
                message = event.message
                if isinstance(message, UserMessage):
                    return f"user ({message.origin or message.via}): {message.text}"
                calls = ", ".join(call.name for call in message.tool_calls)
                return f"assistant: {message.text}" + (f" [calls {calls}]" if calls else "")
            case ToolStart():
                return f"start {event.call.name} ({event.call.id}) {to_text(event.call.arguments, _LONGEST_ARGUMENTS)}"
            case ToolEnd():
                took = event.result.milliseconds
                spent = "" if took is None else f" in {took:.1f} ms"
                return f"end {event.call.name} ({event.call.id}) {event.result.status}{spent}: {event.result.content}"
            case Compaction():
                return f"'{event.plugin}' sent {event.blocks_after} of {event.blocks_before} blocks"
            case Retry():
                return self._masked(f"retry {event.attempt} in {event.wait_seconds:g} s: {event.error}")
            case ErrorEvent():
                return self._masked(f"error ({event.kind}, {event.source}): {event.message}")
            case HookReport() if event.outcome in ("failed", "overran", "slow"):
                return self._masked(f"hook '{event.hook}' of '{event.plugin}' {event.outcome}: {event.detail}")
            case TurnEnd():
                usage = event.usage
                cost = "price unknown" if usage.cost_usd is None else f"${usage.cost_usd:.6f}"
                return f"turn ends {event.status}: {usage.requests} model calls, {usage.total_tokens} tokens, {cost}"
        return None


class SessionLog:
    """A YAML file per session, `<home>/sessions/<agent>_<started>.yaml`: its head, then each turn as it ends.

    It is valid YAML at every moment. All figures are those of the turn; a turn that failed stands there like any other.
    The file is made with the first `AgentStart`. See `TextLog` for the arguments.
    """

    def __init__(
        self,
        home: Path,
        agent: str,
        session_id: str,
        *,
        warn: Callable[[str], object] | None = None,
        wall: Callable[[], float] = time.time,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self._folder = home / "sessions"
        self._agent = agent
        self._session = session_id
        self._warn = warn
        self._wall = wall
        self._masked = Masker(environment)
        self._model = ""
        self._turn: dict[str, Any] = {}
        self._turn_started = 0.0
        self.file: AppendFile | None = None

    def __call__(self, event: Event) -> None:
        """Note an event; the turn is written when it ends."""
        match event:
            case AgentStart():
                self._model = event.model
                self._begin()
            case TurnStart():
                self._turn_started = event.seconds
                self._turn = {"input": event.prompt, "tools_called": [], "messages": [], "errors": []}
            case MessageEnd():
                self._note("messages", plain_message(event.message))
            case ToolStart():
                self._note("tools_called", event.call.name)
            case ToolEnd():
                result = plain_message(event.result)
                if event.call.arguments is not None:
                    result = {**result, "arguments": thaw(event.call.arguments)}
                self._note("messages", result)
            case ErrorEvent():
                self._note("errors", self._masked(event.message))
            case TurnEnd():
                self._end(event)

    def close(self) -> None:
        """Close the file."""
        if self.file is not None:
            self.file.close()

    def _note(self, name: str, value: object) -> None:
        self._turn.setdefault(name, []).append(value)

    def _begin(self) -> None:
        if self.file is not None:
            return
        started = _moment(self._wall())
        name = f"{safe_name(self._agent)}_{started.replace(':', '-').removesuffix('Z')}.yaml"
        self.file = AppendFile(self._folder / name, self._warn, alone=True)
        head = {"agent": self._agent, "model": self._model, "session": self._session, "started": started}
        self.file.append(yaml_lines(head) + "turns:\n")

    def _end(self, event: TurnEnd) -> None:
        if self.file is None:
            return
        noted, self._turn = self._turn, {}
        turn: dict[str, Any] = {
            "input": noted.get("input", ""),
            "model": self._model,
            "duration_ms": round((event.seconds - self._turn_started) * 1000.0, 3),
            "tokens": plain_tokens(event.usage),
            "cost": plain_cost(event.usage),
            "tools_called": noted.get("tools_called", []),
            "outcome": event.status,
            "result": event.answer,
            "messages": noted.get("messages", []),
        }
        if noted.get("errors"):
            turn["errors"] = noted["errors"]
        self.file.append(yaml_lines([turn], 2))


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
