"""What fails at a chosen time, and a plugin of which every hook may, while it does its share of the reference run."""

from __future__ import annotations

import collections
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hookagent import Amend, Approve, Suspend, hookimpl
from hookagent.requests import Note
from hookagent.testing import Recorder


class Faults:
    """Counts what happens, by kind, and raises when the `number`-th of one kind does.

    `lasting` goes on raising from there, until the run that shall find nothing failing; `forever` in that one too.
    """

    def __init__(
        self,
        kind: str = "",
        number: int = 0,
        error: Callable[[], BaseException] = lambda: ValueError("struck"),
        *,
        lasting: bool = False,
        forever: bool = False,
    ) -> None:
        self.kind, self.number, self.error = kind, number, error
        self.lasting, self.forever = lasting or forever, forever
        self.counts: collections.Counter[str] = collections.Counter()
        self.armed = True
        self.struck = 0
        self.about: Any = None
        self._lock = threading.Lock()

    def __call__(self, kind: str, about: Any = None) -> None:
        """One thing of a kind happens; `about` tells more of it."""
        if not self.armed and not self.forever:
            return
        with self._lock:
            self.counts[kind] += 1
            count = self.counts[kind]
        if kind == self.kind and (count == self.number or (self.lasting and count > self.number)):
            self.struck += 1
            self.about = about
            raise self.error()


class Faulty(Recorder):
    """Every hook, each of which may fail and otherwise does its share of the run."""

    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        super().__init__({hook: self._returning(hook, share) for hook, share in _SHARES.items()}, "faulty")

    def _returning(self, hook: str, share: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], Any]:
        def act(given: dict[str, Any]) -> Any:
            self.faults(hook, given)
            return share(given)

        return act

    @hookimpl
    async def wrap_model_call(self, request: Any, call_next: Any) -> Any:
        """Fail before the call, or behind it."""
        reply = await super().wrap_model_call(request, call_next)
        self.faults("wrap_model_call, behind")
        return reply

    @hookimpl
    async def wrap_tool_call(self, tool_call: Any, call_next: Any) -> Any:
        """Fail before the call, or behind it."""
        result = await super().wrap_tool_call(tool_call, call_next)
        self.faults("wrap_tool_call, behind", {"tool_call": tool_call})
        return result

    @hookimpl
    def on_event(self, event: Any) -> None:
        """Fail, or write it down."""
        self.faults("on_event", {"event": event})
        super().on_event(event)


def _gate(given: dict[str, Any]) -> Any:
    name = given["tool_call"].name
    return Suspend("sure?") if name == "risky" else Amend({"n": 10}) if name == "change" else None


def _when(condition: Callable[[dict[str, Any]], bool], text: str) -> Callable[[dict[str, Any]], str | None]:
    return lambda given: text if condition(given) else None


def _nothing(given: dict[str, Any]) -> None:
    return None


_SHARES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "register_tools": _nothing,
    "on_session_start": _nothing,
    "on_session_end": _nothing,
    "after_user_input": _when(lambda given: given["message"].text == "first task", "what there is"),
    "before_llm": _when(lambda given: given["iteration"] == 2, "the second time"),
    "shape_request": lambda given: replace(
        given["request"], notes=(*given["request"].notes, Note("in passing", "faulty"))
    ),
    "wrap_model_call": _nothing,
    "after_llm": _when(lambda given: given["response"].text == "I look at both.", "held behind the round"),
    "before_tools": _when(lambda given: len(given["tool_calls"]) == 2, "two of them"),
    "before_each_tool": _gate,
    "resolve_suspended": lambda given: {one.call.id: Approve() for one in given["pending"]},
    "wrap_tool_call": _nothing,
    "after_each_tool": lambda given: replace(given["result"], content=f"{given['result'].content}, read"),
    "on_error": _nothing,
    "after_tools": _when(lambda given: given["tool_round"].results[0].call_id == "c6", "well done"),
    "before_complete": _when(lambda given: given["answer"] == "The first answer.", "check it"),
    "on_complete": _when(lambda given: given["outcome"].turn == 1, "to be remembered"),
}
