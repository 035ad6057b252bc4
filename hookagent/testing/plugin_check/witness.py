"""A neighbour of the plugin that writes down every hook, and finds out who changes what it was given."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Mapping
from typing import Any

from hookagent import Request, Transcript
from hookagent.testing.recorder import Recorder

_CACHES = frozenset({"_wire_cache", "_calls", "_length"})
_LIVE = frozenset({"call_next", "register"})
# What was given to the last few hooks is looked at behind each hook, all the rest at the end of the run.
_RECENT = 4


class Watch:
    """Remembers what hooks were given, as it was then. Everything that hooks are given is frozen, so it stays so.

    `changed` has, for each value that did change, the hook during which it happened and a text.
    """

    def __init__(self) -> None:
        self.changed: list[tuple[str, str]] = []
        self._kept: dict[int, tuple[Any, Any, str, str]] = {}
        self._recent: deque[int] = deque(maxlen=_RECENT)
        self._blocks: dict[str, tuple[Any, ...]] = {}

    def look(self, hook: str) -> None:
        """Look at what was given last, whether it is still the same."""
        for key in self._recent:
            self._look(key, hook)

    def see(self, hook: str, given: Mapping[str, Any], session: Any) -> None:
        """Remember what is given now, and look at the transcript."""
        for name, value in given.items():
            if name not in _LIVE and id(value) not in self._kept and _is_kept(value):
                self._kept[id(value)] = (value, snapshot(value), name, hook)
                self._recent.append(id(value))
        if session is not None:
            self._see_transcript(hook, session)

    def look_at_all(self) -> None:
        """Compare everything with what it was; the hook named is the one that was given it."""
        for key, (_, _, _, hook) in self._kept.items():
            self._look(key, hook)

    def _look(self, key: int, hook: str) -> None:
        value, before, name, given_to = self._kept[key]
        now = snapshot(value)
        if now != before:
            self.changed.append((hook, f"the {name} that hooks were given was changed in place"))
            self._kept[key] = (value, now, name, given_to)

    def _see_transcript(self, hook: str, session: Any) -> None:
        blocks = tuple(session.transcript)
        before = self._blocks.get(session.id, ())
        if len(blocks) < len(before) or any(now is not then for now, then in zip(blocks, before, strict=False)):
            self.changed.append((hook, "the stored transcript was changed, which only grows"))
        self._blocks[session.id] = blocks


class Witness(Recorder):
    """A `Recorder` that also keeps watch, in one run after the other; one that `looks` finds out what was changed.

    Its `returns` may be functions that want the `session` as well.
    """

    def __init__(self, name: str, *, looks: bool) -> None:
        super().__init__(None, name)
        self.watch = Watch()
        self._looks = looks

    def begin(self, watch: Watch, returns: Mapping[str, Any]) -> None:
        """Forget the run before; its `calls` stay with who has them."""
        self.watch, self.returns = watch, dict(returns)
        self.calls, self.events, self.agent = [], [], None

    def _answer(self, hook: str, **arguments: Any) -> Any:
        session = self.agent.session if self.agent is not None else arguments.get("session")
        if self._looks:
            self.watch.look(hook)
        self.watch.see(hook, arguments, session)
        self.calls.append((hook, arguments))
        value = self.returns.get(hook)
        return value({**arguments, "session": session}) if callable(value) else value


def _is_kept(value: Any) -> bool:
    return isinstance(value, tuple | list | dict) or dataclasses.is_dataclass(value)


def snapshot(value: Any) -> Any:
    """A value as plain tuples, down to the last part: two of them are equal when nothing was changed in between."""
    if value is None or isinstance(value, str | bytes | int | float):
        return (type(value).__name__, value)
    if isinstance(value, Request):
        view = value.blocks
        return (
            "Request",
            *(snapshot(getattr(value, one.name)) for one in dataclasses.fields(value) if one.name != "blocks"),
            (view.start, view.kept, tuple(view.replaced), tuple(map(id, view))),
        )
    if isinstance(value, Transcript):
        return ("Transcript", tuple(map(id, value)))
    if isinstance(value, Mapping):
        return (type(value).__name__, tuple((key, snapshot(item)) for key, item in value.items()))
    if isinstance(value, tuple | list):
        return (type(value).__name__, tuple(map(snapshot, value)))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = (one.name for one in dataclasses.fields(value) if one.name not in _CACHES)
        return (type(value).__name__, tuple((name, snapshot(getattr(value, name, None))) for name in fields))
    return (type(value).__name__, id(value))
