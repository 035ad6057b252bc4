"""What a run has used of its limits, nested agents included: the loop asks before each model call.

A nested run books with its parent too, and stands under the parent's limits as well as its own (design, "Limits").
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import NamedTuple

from hookagent.counting import counted
from hookagent.limits import Limits
from hookagent.usage import NO_USAGE, Usage


class Exceeded(NamedTuple):
    """A limit that was hit: its name, and the sentence that says so."""

    limit: str
    text: str


_CHECKED = (
    "max_iterations",
    "max_tokens",
    "max_input_tokens",
    "max_output_tokens",
    "max_cost_usd",
    "max_seconds",
)
"""The limits that are looked at before each model call."""


class Budget:
    """The counts of one run, and of what is nested in it."""

    __slots__ = (
        "_asking",
        "_asking_since",
        "_equal_rounds",
        "_last_round",
        "_limited",
        "_monotonic",
        "_parent",
        "_started",
        "_waited",
        "crossed",
        "iterations",
        "limits",
        "tool_calls",
        "usage",
    )

    def __init__(self, limits: Limits, monotonic: Callable[[], float], parent: Budget | None = None) -> None:
        self.limits = limits
        self._limited = any(getattr(limits, name) is not None for name in _CHECKED)
        self.iterations = 0
        self.tool_calls = 0
        self.usage = NO_USAGE
        self.crossed: Exceeded | None = None
        self._parent = parent
        self._monotonic = monotonic
        self._started = monotonic()
        self._waited = 0.0
        self._asking = 0
        self._asking_since = 0.0
        self._last_round: Hashable = None
        self._equal_rounds = 0

    def exceeded(self) -> Exceeded | None:
        """The limit that forbids another model call, of this run or of one it is nested in; None: go on."""
        limits, usage = self.limits, self.usage
        if self.crossed is not None:
            return self.crossed
        if not self._limited:
            return self._parent.exceeded() if self._parent is not None else None
        if limits.max_iterations is not None and self.iterations >= limits.max_iterations:
            return _hit("max_iterations", limits.max_iterations, counted(self.iterations, "iteration"))
        if limits.max_tokens is not None and usage.total_tokens >= limits.max_tokens:
            return _hit("max_tokens", limits.max_tokens, counted(usage.total_tokens, "token"))
        if limits.max_input_tokens is not None and usage.prompt_tokens >= limits.max_input_tokens:
            return _hit("max_input_tokens", limits.max_input_tokens, counted(usage.prompt_tokens, "input token"))
        if limits.max_output_tokens is not None and usage.output_tokens >= limits.max_output_tokens:
            return _hit("max_output_tokens", limits.max_output_tokens, counted(usage.output_tokens, "output token"))
        if limits.max_cost_usd is not None:
            if usage.cost_usd is None:
                return _hit("max_cost_usd", limits.max_cost_usd, "a model call whose price is unknown")
            if usage.cost_usd >= limits.max_cost_usd:
                return _hit("max_cost_usd", limits.max_cost_usd, f"${usage.cost_usd:.4f}")
        if limits.max_seconds is not None and self.seconds >= limits.max_seconds:
            return _hit("max_seconds", limits.max_seconds, f"{self.seconds:.1f} s")
        return self._parent.exceeded() if self._parent is not None else None

    @property
    def seconds(self) -> float:
        """How long the run has taken, without the time in which people were waited for."""
        now = self._monotonic()
        waiting = now - self._asking_since if self._asking else 0.0
        return now - self._started - self._waited - waiting

    def begin_iteration(self) -> None:
        """Count a model call."""
        self.iterations += 1
        if self._parent is not None:
            self._parent.begin_iteration()

    def add(self, usage: Usage, known: tuple[Usage, Usage] | None = None) -> None:
        """Count what a model call used; `known` is a sum that was made already: what it began with, and with it."""
        before = self.usage
        self.usage = known[1] if known is not None and known[0] is before else before + usage
        if self._parent is not None:
            self._parent.add(usage)

    def take_call(self) -> str | None:
        """Count a call that is about to start; or, where a limit forbids it, why it does not run."""
        if self.limits.max_tool_calls is None and self._parent is None:
            self.tool_calls += 1
            return None
        over = self._over_calls()
        if over is not None:
            return f"not run: {over.text}"
        self._count_call()
        return None

    def _over_calls(self) -> Exceeded | None:
        most = self.limits.max_tool_calls
        if most is not None and self.tool_calls >= most:
            over: Exceeded | None = _hit("max_tool_calls", most, counted(self.tool_calls, "tool call"))
        else:
            over = self._parent._over_calls() if self._parent is not None else None
        if over is not None:
            self.crossed = self.crossed or over
        return over

    def _count_call(self) -> None:
        self.tool_calls += 1
        if self._parent is not None:
            self._parent._count_call()

    def end_round(self, signature: Hashable) -> str | None:
        """Note what a round called and got, whatever the order; gives the warning for the model, if one is due."""
        most = self.limits.max_equal_calls
        if most is None:
            return None
        self._equal_rounds = self._equal_rounds + 1 if signature == self._last_round else 1
        self._last_round = signature
        if self._equal_rounds >= most:
            rounds = counted(self._equal_rounds, "round")
            self.crossed = _hit("max_equal_calls", most, f"{rounds} of equal calls and results")
        elif self._equal_rounds == most - 1:
            return (
                f"The same calls gave the same results {counted(self._equal_rounds, 'time')} in a row. Once more, and "
                "the run is stopped: try something else, or answer with what you have."
            )
        return None

    def begin_asking(self) -> None:
        """People are waited for from now on; that time does not count."""
        if not self._asking:
            self._asking_since = self._monotonic()
        self._asking += 1
        if self._parent is not None:
            self._parent.begin_asking()

    def end_asking(self) -> None:
        """The waiting is over."""
        self._asking -= 1
        if not self._asking:
            self._waited += self._monotonic() - self._asking_since
        if self._parent is not None:
            self._parent.end_asking()


def _hit(limit: str, most: float, used: str) -> Exceeded:
    return Exceeded(limit, f"stopped after {used}: the limit {limit} is {most:g}")
