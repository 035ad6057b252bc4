"""docs/reference/events.md: every event and its fields, and the last line of `--json`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, get_args

from checks.reference.markdown import doc, linked, table
from hookagent import events
from hookagent.cli.json_lines import failure_line

_COMMON = {
    "number": "counted from 1 in a session",
    "seconds": "the run's monotonic clock; in `--json`, seconds since the run's first event",
    "turn": "the turn's number, from 1; 0 outside of one",
    "iteration": "the iteration's number in its turn, from 1; 0 outside of one",
}
_RESULT = {
    "type": "always `result`",
    "status": "how the run ended: see [exit codes](exit-codes.md)",
    "answer": "the answer, perhaps empty",
    "reason": "why the run did not complete, in words",
    "limit": "the name of the limit that was hit, or null",
    "exit_code": "what the command exits with",
    "session_id": "the session's id; null when no run began",
    "usage": "tokens, requests and cost of the run; `cost_usd` is null when a price is unknown",
    "iterations": "how many model calls",
    "tool_calls": "how many calls have a result",
    "seconds": "how long it took",
    "not_stored": "prompts that a plugin kept out of the transcript",
    "errors": "texts of what failed, secrets masked",
    "warnings": "texts of what failed mildly (a listener, a plugin with `on_error: warn`), secrets masked",
}


def page() -> str:
    """The text of the page."""
    parts = [
        "# Events\n",
        "What `agent.stream(...)` yields, what `subscribe(...)` and the hook `on_event` are called with, and what\n"
        "`hookagent run --json` prints, one event a line. An event is a named tuple; `event.type` is the word below.\n"
        f"The trace (`session.trace`) keeps all but {_listed(sorted(map(_word, events.UNTRACED)))}.\n"
        "The order they come in is [drawn in the design](../explanation/design.md#events).\n",
        "## Fields of every event\n",
        table(("field", "meaning"), ((f"`{name}`", meaning) for name, meaning in _COMMON.items())),
    ]
    for event in get_args(events.Event):
        parts.append(_section(event))
    parts += ["## The last line of --json\n", _result()]
    return "\n".join(parts)


def _word(event: Any) -> str:
    return str(event(*([None] * len(event._fields))).type)


def _listed(words: Sequence[str]) -> str:
    *first, last = [f"`{word}`" for word in words]
    return f"{', '.join(first)} and {last}"


def _section(event: Any) -> str:
    word = _word(event)
    own = [name for name in event._fields if name not in _COMMON]
    annotations: dict[str, Any] = event.__annotations__
    fields = table(("field", "type"), ((f"`{name}`", f"`{_name(annotations[name])}`") for name in own)) if own else ""
    return f"## {word}\n\n`{event.__name__}`: {linked(doc(event))}\n\n{fields}"


def _name(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__forward_arg__", str(annotation))


def _result() -> str:
    keys = list(json.loads(failure_line(1, [])))
    if set(keys) != set(_RESULT):
        raise ValueError(f"the result line has other keys than are described: {set(keys) ^ set(_RESULT)}")
    return "It is printed also when the run fails, and when not even the options could be read.\n\n" + table(
        ("key", "meaning"), ((f"`{key}`", _RESULT[key]) for key in keys)
    )
