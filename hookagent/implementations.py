"""Implementations of hooks, as plugins bring them, and the table of all of them in call order."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from hookagent.contract import CONTRACTS

if TYPE_CHECKING:
    import pluggy

    from hookagent.agent import Agent
    from hookagent.session import Session

OnError = Literal["fail", "warn", "disable"]
DEFAULT_TIME_LIMIT = 60.0


class Implementation:
    """One plugin's implementation of one hook, ready to be called with the hookspec's arguments in order."""

    __slots__ = (
        "_spec_arguments",
        "_wanted",
        "call",
        "contract",
        "distribution",
        "function",
        "hook",
        "is_async",
        "on_error",
        "plugin",
        "takes_values",
        "time_limit",
    )

    def __init__(
        self,
        implementation: pluggy.HookImpl,
        spec_arguments: tuple[str, ...],
        distribution: str | None,
        on_error: OnError,
        time_limit: float | None,
        hook: str,
    ) -> None:
        self.plugin = implementation.plugin_name
        self.distribution = distribution
        self.hook = hook
        self.contract = CONTRACTS[hook]
        self.function: Callable[..., Any] = implementation.function
        self.is_async = inspect.iscoroutinefunction(self.function)
        self.on_error: OnError = on_error
        self.time_limit = time_limit
        # Most want exactly the hook's own arguments, in order: `function` can then be called without an adapter.
        self.takes_values = (*implementation.argnames, "agent", "session") == spec_arguments
        self._spec_arguments, self._wanted = spec_arguments, tuple(implementation.argnames)
        self.call: Callable[..., Any] = _adapter(spec_arguments, self._wanted)(self.function)

    def bound(self, agent: Agent, session: Session) -> Callable[..., Any]:
        """What takes the hook's own arguments alone; the agent and the session of a run are known in it."""
        if self.takes_values:
            return self.function
        return _binder(self._spec_arguments, self._wanted)(self.function, agent, session)

    @property
    def place(self) -> str:
        """Where it is written, as file:line."""
        return place_of(self.function)


def place_of(function: Any) -> str:
    """Where a function is written, as file:line."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code is not None else "unknown place"


@functools.cache
def _adapter(
    spec_arguments: tuple[str, ...], wanted: tuple[str, ...]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make `lambda f: lambda <all arguments>: f(<the wanted ones>)`, of names that come from signatures."""
    source = f"lambda f: lambda {', '.join(spec_arguments)}: f({', '.join(wanted)})"
    adapter: Callable[[Callable[..., Any]], Callable[..., Any]] = eval(source, {})
    return adapter


@functools.cache
def _binder(spec_arguments: tuple[str, ...], wanted: tuple[str, ...]) -> Callable[..., Callable[..., Any]]:
    """Make `lambda f, agent, session: lambda <the hook's own arguments>: f(<the wanted ones>)`, as `_adapter` does."""
    own = ", ".join(name for name in spec_arguments if name not in ("agent", "session"))
    source = f"lambda f, agent, session: lambda {own}: f({', '.join(wanted)})"
    binder: Callable[..., Callable[..., Any]] = eval(source, {})
    return binder


class HookTable:
    """The implementations of every hook, in call order; an empty tuple where there is none."""

    __slots__ = (*CONTRACTS, "plugins")

    def __init__(self, implementations: dict[str, tuple[Implementation, ...]], plugins: tuple[str, ...] = ()) -> None:
        self.plugins = plugins
        for hook in CONTRACTS:
            setattr(self, hook, implementations.get(hook, ()))

    def has(self, implementation: Implementation) -> bool:
        """Whether this very implementation is among them, or another agent's of the same plugin object."""
        same: tuple[Implementation, ...] = getattr(self, implementation.hook)
        return any(one.function == implementation.function for one in same)

    def has_gate(self, plugin: str, hook: str) -> bool:
        """Whether `hook` is a gate of calls, and a plugin of this name is asked there."""
        return hook in _GATES and any(one.plugin == plugin for one in getattr(self, hook))

    if TYPE_CHECKING:

        def __getattr__(self, hook: str) -> tuple[Implementation, ...]: ...


EMPTY_TABLE = HookTable({})
_GATES = ("before_tools", "before_each_tool", "resolve_suspended")


def with_gates_of(outer: HookTable, own: HookTable) -> HookTable:
    """The hooks of a nested agent: its own, and ahead of them the gates of the agent whose tool it runs in."""
    merged = {hook: getattr(own, hook) for hook in CONTRACTS}
    for hook in _GATES:
        known = {one.function for one in merged[hook]}
        merged[hook] = (*(one for one in getattr(outer, hook) if one.function not in known), *merged[hook])
    return HookTable(merged, own.plugins)
