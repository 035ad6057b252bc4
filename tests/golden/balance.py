"""Whether the hooks that one plugin saw are in balance; an oracle of its own, which knows nothing of the loop.

The rule (design, "What it is for"): each `before_...` has its `after_...`, or `on_error` where the thing itself failed,
or `on_complete` with the outcome where the run was stopped or aborted in between. What is looked at is the list of hook
calls that `hookagent.testing.Recorder` keeps: (hook, arguments by name), in order. The plugin that kept it implements
every hook and never fails itself; calls made by `agent.call_tool` are not part of any turn and must be left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

Call = tuple[str, Mapping[str, Any]]
CUT_SHORT = ("stopped", "aborted")
QUIET = ("on_error", "on_event")
"""Hooks of whose failure `on_error` is not told, so that a failed turn may end without it."""
OUTSIDE = ("register_tools", "on_session_start", "on_session_end")


class UnbalancedError(AssertionError):
    """A hook without its counterpart, or one that nothing has led to; the text names the rule and the place."""


def check_balance(
    calls: Sequence[Call],
    failed_hooks: Iterable[str] = (),
    *,
    turn: int = 0,
    waiting: Mapping[str, bool] = MappingProxyType({}),
) -> None:
    """Check all hook calls of one session, from its first turn to `on_session_end` (which may be yet to come).

    `failed_hooks` are hooks in which some plugin failed. A session that was brought back from disk has had `turn`
    turns already, and a round may wait in it: `waiting` has the ids of its calls in call order, and whether each has
    its result. Raises `UnbalancedError`.
    """
    balance = _Balance(any(hook in QUIET for hook in failed_hooks), turn, waiting)
    for number, (hook, given) in enumerate(calls, 1):
        balance.where = f"call {number}, {hook}"
        balance.hook(hook, given)
    balance.where = "at the end"
    balance.refuse_if(balance.in_turn, "the last turn has no on_complete")


class _Balance:
    """What is open at a point of the list."""

    def __init__(self, quietly_failed: bool, turn: int, waiting: Mapping[str, bool]) -> None:
        self.where = ""
        self.quietly_failed = quietly_failed
        self.turn = turn
        self.in_turn = False
        self.started = self.ended = False
        self.iteration = 0
        self.model: str | None = None  # "asked", "shaped" or "failed" while a model call is open
        self.failed = False
        self.round: tuple[str, ...] = tuple(waiting)
        self.opened = bool(waiting)
        self.asked_rounds = 0
        self.resumed = bool(waiting)
        self.asked: Counter[str] = Counter()
        self.wrapped: set[str] = set()
        self.told: set[str] = set()
        self.results = {call for call, has_result in waiting.items() if has_result}

    def refuse_if(self, wrong: bool, what: str) -> None:
        if wrong:
            raise UnbalancedError(f"{self.where}: {what}")

    def hook(self, hook: str, given: Mapping[str, Any]) -> None:
        self.refuse_if(self.ended, "the session has ended")
        if hook not in OUTSIDE:
            self.in_turn = True
        step: Callable[[Mapping[str, Any]], None] | None = getattr(self, f"_{hook}", None)
        if step is not None:
            step(given)

    # ---- session and turn ----

    def _on_session_start(self, given: Mapping[str, Any]) -> None:
        self.refuse_if(self.started or self.in_turn, "the session has begun already")
        self.started = self.in_turn = True

    def _on_session_end(self, given: Mapping[str, Any]) -> None:
        self.refuse_if(self.in_turn, "the turn has no on_complete")
        self.ended = True

    def _after_user_input(self, given: Mapping[str, Any]) -> None:
        self.refuse_if(self.model is not None, "a message comes in between before_llm and its after_llm")

    def _before_complete(self, given: Mapping[str, Any]) -> None:
        self._nothing_open()

    def _on_complete(self, given: Mapping[str, Any]) -> None:
        outcome = given["outcome"]
        self.refuse_if(outcome.turn != self.turn + 1, f"turn {outcome.turn} ends after turn {self.turn}")
        cut_short = outcome.status in CUT_SHORT or (outcome.status == "failed" and (self.failed or self.quietly_failed))
        self.refuse_if(self.model in ("asked", "shaped") and not cut_short, "before_llm has no after_llm")
        self.refuse_if(self.model == "failed" and outcome.status in ("completed", "waiting"), "the model call failed")
        missing = [one for one in self.round if one not in self.results]
        self.refuse_if(bool(self.told - self.results), "on_error of a call without its after_each_tool")
        if outcome.status == "waiting":
            self.refuse_if(not missing, "it waits, but each call has its after_each_tool")
        else:
            self.refuse_if(bool(missing), f"no after_each_tool for {', '.join(missing)}")
            refused = outcome.status == "refused"  # a person quit
            self.refuse_if(self.opened and not cut_short and not refused, "before_tools has no after_tools")
            self._close_round()
        self.turn, self.in_turn, self.iteration, self.failed = outcome.turn, False, 0, False
        self.model = None
        self.resumed, self.asked_rounds = bool(missing), 0
        self.asked.clear()

    # ---- the model call ----

    def _before_llm(self, given: Mapping[str, Any]) -> None:
        self._nothing_open()
        self.iteration += 1
        self.refuse_if(given["iteration"] != self.iteration, f"iteration {self.iteration} was due")
        self.model = "asked"

    def _shape_request(self, given: Mapping[str, Any]) -> None:
        self.refuse_if(self.model not in ("asked", "failed"), "no before_llm led to it, or it was shaped already")
        self.model = "shaped"

    def _wrap_model_call(self, given: Mapping[str, Any]) -> None:
        self.refuse_if(self.model != "shaped", "no shape_request led to it")

    def _after_llm(self, given: Mapping[str, Any]) -> None:
        self.refuse_if(self.model != "shaped", "no request led to this reply")
        self.model = None
        self._close_round()

    # ---- the tool round ----

    def _before_tools(self, given: Mapping[str, Any]) -> None:
        ids = tuple(call.id for call in given["tool_calls"])
        self.refuse_if(self.model is not None, "before_llm has no after_llm")
        self.refuse_if(self.opened and ids != self.round, f"the round of {', '.join(self.round)} has no after_tools")
        self.refuse_if(not self.opened and bool(self.results), "calls of the round have results already")
        self.round, self.opened = ids, True
        self.asked_rounds += 1

    def _before_each_tool(self, given: Mapping[str, Any]) -> None:
        call = self._in_round(given["tool_call"].id)
        self.asked[call] += 1
        self.refuse_if(self.asked[call] > self.asked_rounds + self.resumed, f"{call} is judged once too often")

    def _resolve_suspended(self, given: Mapping[str, Any]) -> None:
        for one in given["pending"]:
            self._in_round(one.call.id)

    def _wrap_tool_call(self, given: Mapping[str, Any]) -> None:
        call = self._in_round(given["tool_call"].id)
        self.refuse_if(not self.asked[call] and not self.resumed, f"{call} runs without its before_each_tool")
        self.refuse_if(call in self.wrapped, f"{call} runs twice")
        self.wrapped.add(call)

    def _on_error(self, given: Mapping[str, Any]) -> None:
        call = given["tool_call"]
        if call is not None:
            self.refuse_if(call.id in self.results, f"{call.id} has its after_each_tool already")
            self.refuse_if(call.id in self.told, f"on_error was told of {call.id} already")
            self.told.add(call.id)
            return
        self.failed = True
        if self.model is not None:
            self.model = "failed"

    def _after_each_tool(self, given: Mapping[str, Any]) -> None:
        call = given["result"].call_id
        self.refuse_if(call != given["tool_call"].id, f"it is of another call, {call}")
        if self.opened:
            self.refuse_if(call not in self.round, f"{call} is not in the round")
        else:  # a reply whose calls were never judged: they are only told that nothing ran
            self.refuse_if(given["result"].status not in ("not_run", "interrupted"), f"no before_tools led to {call}")
            self.round = (*self.round, call) if call not in self.round else self.round
        self.refuse_if(call in self.results, f"a second after_each_tool for {call}")
        self.results.add(call)

    def _after_tools(self, given: Mapping[str, Any]) -> None:
        ids = tuple(result.call_id for result in given["tool_round"].results)
        self.refuse_if(not self.opened or ids != self.round, "no before_tools led to it")
        missing = [one for one in ids if one not in self.results]
        self.refuse_if(bool(missing), f"no after_each_tool for {', '.join(missing)}")
        self.refuse_if(bool(self.told - self.results), "on_error of a call without its after_each_tool")
        self._close_round()

    # ---- inside ----

    def _in_round(self, call: str) -> str:
        self.refuse_if(call not in self.round or not self.opened, f"no before_tools led to {call}")
        self.refuse_if(call in self.results, f"{call} has its after_each_tool already")
        return call

    def _nothing_open(self) -> None:
        self.refuse_if(self.model is not None, "the model call before has no after_llm")
        self.refuse_if(self.opened, "the round before has no after_tools")

    def _close_round(self) -> None:
        self.round, self.opened = (), False
        self.wrapped.clear()
        self.told.clear()
        self.results.clear()
