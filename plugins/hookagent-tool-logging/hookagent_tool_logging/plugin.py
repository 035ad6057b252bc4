"""The plugin: it hears of every call's start and end as events, so it adds no task and no wait to a run."""

from __future__ import annotations

import logging
import os
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field

from hookagent import hookimpl
from hookagent_tool_logging.line_file import LineFile, one_line
from hookagent_tool_logging.masking import LogMasker

if TYPE_CHECKING:
    from hookagent import Event, Session
    from hookagent.events import ToolEnd, ToolStart

LOGGER = logging.getLogger("hookagent.tools")


class ToolLogging:
    """Logs the start and the end of every tool call: name, arguments, milliseconds, status, error.

    A start is logged just before the call runs; an end for every result, also of calls that never ran (denied,
    unknown, not run), whose milliseconds are None. Records go to the standard logger `hookagent.tools` and, by option,
    to a file of JSON lines. Secrets are masked and sizes bounded. A log that fails never ends a run: it is said once on
    standard error, and `lost` counts the records.
    """

    name = "tool-logging"

    class Options(BaseModel):
        """The options of `tool-logging`."""

        model_config = ConfigDict(frozen=True, extra="forbid")

        level: Literal["debug", "info", "warning", "error"] = Field(
            default="info", description="The level of the log records."
        )
        file: str | None = Field(
            default=None,
            min_length=1,
            description="A file to which each record is appended as a line of JSON; it is made with mode 0600.",
        )
        arguments: bool = Field(default=True, description="Whether the arguments of the calls are logged.")
        max_chars: int = Field(
            default=2000, ge=1, description="The most characters of one text in a record; longer ones are cut."
        )

    def __init__(self, options: ToolLogging.Options | None = None) -> None:
        self.options = options or self.Options()
        self.lost = 0
        self._level: int = getattr(logging, self.options.level.upper())
        self._file = LineFile(self.options.file) if self.options.file is not None else None
        self._masker: LogMasker | None = None
        self._started: dict[tuple[str, str], float] = {}

    @hookimpl
    def on_session_start(self) -> None:
        """Forget the secrets of the environment as it was: they are read again with the first record."""
        self._masker = None

    @hookimpl
    def on_session_end(self, session: Session) -> None:
        """Close the file."""
        for key in [key for key in self._started if key[0] == session.id]:
            del self._started[key]
        if self._file is not None:
            try:
                self._file.close()
            except OSError as error:
                self._failed(f"{self._file.path}: cannot be closed", error)

    @hookimpl
    def on_event(self, event: Event, session: Session) -> None:
        """Log the events that are a call's start or end."""
        kind = event.type
        if kind == "tool_start":
            self._on_start(cast("ToolStart", event), session)
        elif kind == "tool_end":
            self._on_end(cast("ToolEnd", event), session)

    def _on_start(self, event: ToolStart, session: Session) -> None:
        if self._heard():
            self._started[session.id, event.call.id] = event.seconds
            self._log("start", event, session, {})

    def _on_end(self, event: ToolEnd, session: Session) -> None:
        if self._heard():
            started = self._started.pop((session.id, event.call.id), None)
            result = event.result
            milliseconds = result.milliseconds
            if milliseconds is None and started is not None:
                milliseconds = (event.seconds - started) * 1000.0
            error = result.content if result.is_error else None
            ended = {
                "milliseconds": None if milliseconds is None else round(milliseconds, 3),
                "status": result.status,
                "error_type": result.error_type,
                "error": error,
            }
            self._log("end", event, session, ended)

    def _heard(self) -> bool:
        return self._file is not None or LOGGER.isEnabledFor(self._level)

    def _log(self, what: str, event: ToolStart | ToolEnd, session: Session, more: dict[str, Any]) -> None:
        """Make the record and give it to the logger and the file; neither can hurt the run or the other."""
        try:
            record = self._record(what, event, session, more)
        except Exception as error:
            self._failed("a record cannot be made", error)
            return
        if LOGGER.isEnabledFor(self._level):
            try:
                LOGGER.log(self._level, "%s", _sentence(record), extra={"tool_call": record})
            except Exception as error:
                self._failed("a handler of the logger 'hookagent.tools' failed", error)
        if self._file is not None:
            try:
                self._file.write(record)
            except Exception as error:
                self._failed(f"{self._file.path}: cannot be written", error)

    def _record(self, what: str, event: ToolStart | ToolEnd, session: Session, more: dict[str, Any]) -> dict[str, Any]:
        masker = self._masker
        if masker is None:
            masker = self._masker = LogMasker(self.options.max_chars, os.environ)
        call = event.call
        record: dict[str, Any] = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "event": what,
            "session": session.id,
            "turn": event.turn,
            "iteration": event.iteration,
            "call_id": masker.text(call.id),
            "tool": masker.text(call.name),
        }
        if self.options.arguments:
            # What the model wrote, where it could not be understood.
            record["arguments"] = masker.value(call.raw if call.arguments is None else call.arguments)
        record.update({key: masker.value(value) for key, value in more.items()})
        return record

    def _failed(self, what: str, error: Exception) -> None:
        self.lost += 1
        if self.lost > 1:
            return
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        text = f"tool-logging: {what}: {reason}; the run goes on, and this is said only once"
        if sys.stderr is not None:
            try:
                print(text, file=sys.stderr)
            except (OSError, ValueError):
                return  # standard error is gone too: there is nobody left to tell


def _sentence(record: dict[str, Any]) -> str:
    """The record for people: one line, foreign text in it printable."""
    name, call_id = one_line(record["tool"])[1:-1], one_line(record["call_id"])[1:-1]
    arguments = f" {one_line(record['arguments'])}" if "arguments" in record else ""
    if record["event"] == "start":
        return f"{name} ({call_id}) starts{arguments}"
    took = "did not run" if record["milliseconds"] is None else f"took {record['milliseconds']:.1f} ms"
    error = f": {one_line(record['error'])}" if record["error"] is not None else ""
    return f"{name} ({call_id}) ended: {record['status']}, {took}{arguments}{error}"
