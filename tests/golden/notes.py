"""What was noted in a run, in its order, and how it is laid out as lines.

A line begins with a hook, and behind it stand the events up to the next hook. What begins or ends the agent, a turn or
an iteration has a line of its own, and moves what is inside to the right.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

NoteKind = Literal["hook", "end", "event", "person"]
ONLY_STREAMED = "~"
"""Stands before what is there only when the model streams its reply."""
WIDTH = 118
_OPENING: Mapping[str, int] = {"agent_start": 0, "turn_start": 1, "iteration_start": 2}
_CLOSING: Mapping[str, int] = {"turn_end": 1, "agent_end": 0}
_STREAMED = re.compile(rf" *{ONLY_STREAMED}\[[^\]]*\]")


class Note(NamedTuple):
    """One thing that was noted: a hook called, an around hook's end, an event, or what a person did."""

    kind: NoteKind
    name: str
    words: str


def lay_out(notes: Iterable[Note]) -> str:
    """The lines of a trace."""
    lines: list[str] = []
    depth = 0
    for note in notes:
        if note.kind == "person":
            depth = depth if note.name == "during" else 0
            lines.append(f"{'  ' * depth}{note.words}")
        elif note.kind == "event" and note.name in _OPENING:
            depth = _OPENING[note.name]
            lines.append(f"{'  ' * depth}{note.words}")
            depth += 1
        elif note.kind == "event" and note.name in _CLOSING:
            depth = _CLOSING[note.name]
            lines.append(f"{'  ' * depth}{note.words}")
        elif note.kind == "event":
            mark = ONLY_STREAMED if note.name == "message_delta" else ""
            _put_event(lines, f"{mark}{note.words}", "  " * depth)
        else:
            depth = min(depth, 2) if note.name in ("on_complete", "on_session_end") else depth
            mark = "/" if note.kind == "end" else ""
            lines.append(f"{'  ' * depth}{mark}{note.name} {note.words}".rstrip())
    return "".join(f"{line}\n" for line in lines)


def _put_event(lines: list[str], words: str, indent: str) -> None:
    last = lines[-1] if lines else ""
    begins_new = last.lstrip().startswith(("[agent_", "[turn_", "[iteration_", ">", "<"))
    if begins_new or len(last) + len(words) + 2 > WIDTH:
        lines.append(f"{indent}    {words}")
    else:
        lines.append(f"{lines.pop()}  {words}")


def unfolded(text: str, *, streamed: bool) -> list[str]:
    """A laid-out trace as what it says, one hook or event an entry, however its lines are broken."""
    if not streamed:
        text = _STREAMED.sub("", text)
    out: list[str] = []
    for line in text.splitlines():
        head, *events = re.split(r" {2,}(?=~?\[)", line.strip())
        out += [one for one in (head, *events) if one]
    return out
