"""The transcript of a chat as a file: Markdown for people, JSON lines for programs."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hookagent.cli.failure import UsageProblem
from hookagent.messages import Message
from hookagent.sessions.markdown import markdown_lines
from hookagent.sessions.plain import plain_cost, plain_message, plain_tokens

if TYPE_CHECKING:
    from hookagent.agent import Agent


def export_transcript(agent: Agent, name: str) -> tuple[Path, int]:
    """Write what was said so far to the new file `name`; give its path and how many messages that were.

    The ending decides: `.md` or `.markdown`, `.jsonl`. A file that is there already is not touched. Raises
    `UsageProblem`.
    """
    forms = {".md": _markdown, ".markdown": _markdown, ".jsonl": _json_lines}
    if not name:
        raise UsageProblem("/export: no file was named; write '/export talk.md' or '/export talk.jsonl'")
    try:
        path = Path(name).expanduser()
    except RuntimeError:
        path = Path(name)
    form = forms.get(path.suffix.lower())
    if form is None:
        raise UsageProblem(f"/export: {name}: the ending says the form; use .md or .jsonl")
    # A snapshot: a turn that is under way may add to the transcript meanwhile.
    messages = list(agent.transcript.messages())
    text = "".join(form(_head(agent), messages))
    made = False
    try:
        with path.open("x", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            made = True
            file.write(text)
    except FileExistsError:
        raise UsageProblem(f"/export: {name}: there is a file already; name a new one") from None
    except (OSError, ValueError) as error:
        if made:
            # Half of a transcript would pass for a whole one, and stand in the way of the next attempt.
            with contextlib.suppress(OSError):
                path.unlink()
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageProblem(f"/export: {name}: cannot be written: {reason.lower()}; name another file") from None
    return path, len(messages)


def _head(agent: Agent) -> dict[str, Any]:
    usage = agent.session.usage
    return {
        "session": agent.session.id,
        "model": agent.model,
        "turns": agent.session.turn,
        "tokens": plain_tokens(usage),
        "cost": plain_cost(usage),
    }


def _json_lines(head: dict[str, Any], messages: Sequence[Message]) -> Iterator[str]:
    for one in ({"role": "session", **head}, *map(plain_message, messages)):
        yield json.dumps(one) + "\n"


def _markdown(head: dict[str, Any], messages: Sequence[Message]) -> Iterator[str]:
    yield "\n".join(markdown_lines({name: head[name] for name in ("session", "model", "turns")}, messages))
