"""The two files that people read: a text log per agent, and a YAML log per session. Both are listeners.

Each is one writer that only appends; failures to write are said once and never raised. Secrets are masked in texts
about failures; what was said in the conversation stands as it was said. Lines of the text log are written in blocks,
so that a process that is killed may lose the last of them (and never a record of the journal).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hookagent.escaping import one_line
from hookagent.events import AgentStart, ErrorEvent, Event, MessageEnd, ToolEnd, ToolStart, TurnEnd, TurnStart
from hookagent.frozen import JsonValue
from hookagent.masking import Masker
from hookagent.messages import AssistantMessage, UserMessage
from hookagent.sessions.append_file import AppendFile
from hookagent.sessions.log_lines import GIVES_CONTROL, LINES
from hookagent.sessions.places import safe_name
from hookagent.sessions.plain import plain_cost, plain_message, plain_tokens
from hookagent.sessions.yaml_text import yaml_lines

_BLOCK_SECONDS = 1.0


class TextLog:
    """One line for each thing that happened, in `<home>/logs/<agent>.log`, which all sessions of the agent share.

    Lines are written with the first event that comes a second after the last block, and whenever the agent gives
    control back or waits for an answer. `wall` gives seconds since the epoch; `warn` hears once of a file that cannot
    be written.
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
        self._session = one_line(session_id, 64)
        self._wall = wall
        self._masked = Masker(environment)
        self._at = (0, 0)
        self._start = ""
        self._due = 0.0

    def __call__(self, event: Event) -> None:
        """Note the line of an event, if it has one."""
        kind = type(event)
        line = LINES.get(kind)
        text = None if line is None else line(event, self._masked)
        if text is not None:
            at = int(self._wall()), event.turn
            if at != self._at:
                self._at = at
                self._start = f"{_moment(at[0])} {self._session} turn {event.turn} "
            self.file.add(f"{self._start}{one_line(text)}\n")
        if event.seconds >= self._due or kind in GIVES_CONTROL:
            self._due = event.seconds + _BLOCK_SECONDS
            self.file.write()

    def close(self) -> None:
        """Write what waits for its block."""
        self.file.close()


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
        self._turn = _Turn("", 0.0)
        self.file: AppendFile | None = None

    def __call__(self, event: Event) -> None:
        """Note an event; the turn is written when it ends."""
        if isinstance(event, MessageEnd):
            self._turn.messages.append(event.message)
        elif isinstance(event, ToolStart):
            self._turn.tools_called.append(event.call.name)
        elif isinstance(event, ToolEnd):
            self._turn.messages.append(event)
        elif isinstance(event, ErrorEvent):
            self._turn.errors.append(self._masked(event.message))
        elif isinstance(event, TurnStart):
            self._turn = _Turn(event.prompt, event.seconds)
        elif isinstance(event, TurnEnd):
            self._end(event)
        elif isinstance(event, AgentStart):
            self._model = event.model
            self._begin()

    def close(self) -> None:
        """Write what could not be written before."""
        if self.file is not None:
            self.file.close()

    def _begin(self) -> None:
        if self.file is not None:
            return
        started = _moment(self._wall())
        name = f"{safe_name(self._agent)}_{started.replace(':', '-').removesuffix('Z')}.yaml"
        self.file = AppendFile(self._folder / name, self._warn, alone=True)
        head = {"agent": self._agent, "model": self._model, "session": self._session, "started": started}
        self.file.append(yaml_lines(head) + "turns:\n")

    def _end(self, event: TurnEnd) -> None:
        noted, self._turn = self._turn, _Turn("", 0.0)
        if self.file is None:
            return
        figures = {
            "input": noted.prompt,
            "model": self._model,
            "duration_ms": round((event.seconds - noted.started) * 1000.0, 3),
            "tokens": plain_tokens(event.usage),
            "cost": plain_cost(event.usage),
            "tools_called": noted.tools_called,
            "outcome": event.status,
            "result": event.answer,
        }
        errors = yaml_lines({"errors": noted.errors}, 4) if noted.errors else ""
        self.file.append(yaml_lines([figures], 2) + noted.lines() + errors)


class _Turn:
    """What a turn brought so far, as it came: it is made into text when the turn ends."""

    __slots__ = ("errors", "messages", "prompt", "started", "tools_called")

    def __init__(self, prompt: str, started: float) -> None:
        self.prompt = prompt
        self.started = started
        self.messages: list[UserMessage | AssistantMessage | ToolEnd] = []
        self.tools_called: list[str] = []
        self.errors: list[str] = []

    def lines(self) -> str:
        """Its messages as lines of YAML."""
        if not self.messages:
            return "    messages: []\n"
        asked: dict[str, JsonValue] = {}
        return "    messages:\n" + "".join([yaml_lines([_noted(one, asked)], 6) for one in self.messages])


def _noted(one: UserMessage | AssistantMessage | ToolEnd, asked: dict[str, JsonValue]) -> dict[str, Any]:
    """A message for people. What a call ran with stands with its result where the model had asked for something else.

    `asked` are the arguments that the model gave, by call id.
    """
    if not isinstance(one, ToolEnd):
        if isinstance(one, AssistantMessage):
            asked.update({call.id: call.arguments for call in one.tool_calls})
        return plain_message(one)
    result = plain_message(one.result)
    arguments = one.call.arguments
    if arguments is not None and asked.get(one.call.id) != arguments:
        result["arguments"] = arguments
    return result


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
