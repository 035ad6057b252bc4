"""The question about one call: keys in, an answer out. Whatever is not a clear yes is a no."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

from hookagent import HookagentError, PendingCall, freeze, visible_text
from hookagent_human_approval.show import json_text, show_arguments
from hookagent_human_approval.terminal import Terminal

KEYS = (
    "y yes, n no (as are Enter and Ctrl-C), r no with a reason, e edit, a always exactly this call in this session, "
    "q stop the run"
)
_UNKNOWN_AT_MOST = 3
_INTERRUPT = "\x03"


@dataclass(frozen=True, slots=True)
class Reply:
    """What a person answered: yes or no to the call, or quit; `always` for the session; `edited` arguments.

    `timed_out`: nobody answered in time, which is a no.
    """

    answer: Literal["yes", "no", "quit"]
    reason: str = ""
    always: bool = False
    edited: Mapping[str, Any] | None = None
    timed_out: bool = False


async def ask_in_time(question: Question, timeout_seconds: float | None) -> Reply:
    """Ask; no answer within `timeout_seconds` (None: any time) is a no."""
    try:
        async with asyncio.timeout(timeout_seconds):
            return await question.ask()
    except TimeoutError:
        return Reply("no", f"not approved in time ({timeout_seconds:g} s)", timed_out=True)


class Question:
    """The question about `pending`, at `terminal`; `heading` names the call, `before` is shown above the first one."""

    def __init__(self, terminal: Terminal, pending: PendingCall, heading: str, before: str, shown_chars: int) -> None:
        self._terminal = terminal
        self._pending = pending
        self._heading = heading
        self._before = before
        self._shown_chars = shown_chars
        self._edited: Mapping[str, Any] | None = None

    async def ask(self) -> Reply:
        """Ask until there is an answer."""
        said, unknown = self._before, 0
        while unknown < _UNKNOWN_AT_MOST:
            line = await self._line(f"{said}{self._heading} run it? ({KEYS}) [n] ")
            key, _, rest = (line or "").strip().partition(" ")
            match key.lower(), rest.strip():
                case (("y" | "yes"), ""):
                    return Reply("yes", edited=self._edited)
                case (("a" | "always"), ""):
                    return Reply("yes", edited=self._edited, always=True)
                case "", _:
                    return Reply("no")
                case (("n" | "no" | "no:"), reason):
                    return Reply("no", reason)
                case (("r" | "reason"), reason):
                    return Reply("no", reason or (await self._line("  the reason: ") or "").strip())
                case (("q" | "quit"), ""):
                    return Reply("quit")
                case (("e" | "edit"), ""):
                    said = await self._edit()
                case _:
                    unknown += 1
                    said = f"  '{visible_text(line or '')}' is no answer.\n"
        return Reply("no", "no clear answer")

    async def _line(self, text: str) -> str | None:
        line = await self._terminal.ask(text)
        return None if line is None or _INTERRUPT in line else line

    async def _edit(self) -> str:
        """Let the person edit the arguments; return what to say above the next question."""
        before = self._edited if self._edited is not None else self._pending.call.arguments or {}
        try:
            text = await self._terminal.edit(json_text(before, indent=2))
            if text is None or not text.strip():
                return "  nothing was edited.\n"
            edited = _arguments(text)
            self._pending.tool.validate(edited)
        except (HookagentError, ValueError, RecursionError, OSError) as error:
            lines = (f"  {visible_text(line)}\n" for line in str(error).splitlines())
            return f"  the edit is refused, and the arguments are as before:\n{''.join(lines)}"
        self._edited = edited if json_text(edited) != json_text(self._pending.call.arguments) else None
        shown = show_arguments(edited, shown_chars=self._shown_chars, width=self._terminal.width)
        return "\n".join(["  the call would now run with:", *shown, ""])


def _arguments(text: str) -> Mapping[str, Any]:
    """Read edited arguments as strict JSON. Raises ValueError, RecursionError for what nests too deeply."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        said = f"{error.msg[:1].lower()}{error.msg[1:]}"
        raise ValueError(
            f"this is not JSON (line {error.lineno}, column {error.colno}: {said}); write {{...}}"
        ) from None
    if not isinstance(value, dict):
        raise ValueError("the arguments must be a JSON object: {...}")
    frozen: Mapping[str, Any] = freeze(value)
    return frozen


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return made


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a JSON number")
