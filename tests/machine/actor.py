"""A plugin that implements every hook and does in each what its plan says; and one that only looks."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from hookagent import hookimpl, hookspecs
from tests.machine import acting
from tests.machine.plans import Act, Setup
from tests.machine.world import Hooked, World

HOOKS = tuple(
    hook for hook in vars(hookspecs) if hook.startswith(("on_", "before_", "after_", "shape_", "wrap_", "resolve_"))
)
ALWAYS_ASYNC = ("wrap_model_call", "wrap_tool_call")
ALWAYS_PLAIN = ("on_event",)


class Nasty(BaseException):
    """Something that no `except Exception` catches."""


class Actor:
    """A plugin whose hooks do what the acts of the run at hand say, and mostly nothing."""

    def __init__(self, world: World, name: str, index: int, setup: Setup) -> None:
        self.name: str = name
        self.index: int = index
        self.world: World = world
        self.setup: Setup = setup
        self.calls: collections.Counter[str] = collections.Counter()
        self.insists = False
        self._planned: dict[tuple[str, int], str] = {}
        is_async = setup.asynchronous[index]
        for hook in HOOKS:
            if (hook in ALWAYS_ASYNC and not setup.around) or (hook == "on_event" and not setup.listens):
                continue
            asynchronous = hook in ALWAYS_ASYNC or (is_async and hook not in ALWAYS_PLAIN)
            setattr(self, hook, _implementation(self, hook, asynchronous))

    def begin(self, acts: tuple[Act, ...]) -> None:
        """A run with these acts is about to begin."""
        self.calls.clear()
        self.insists = False
        self._planned = {(one.hook, one.nth): one.what for one in acts if one.plugin == self.index}

    def begun(self, hook: str, given: Mapping[str, Any]) -> tuple[Hooked, str | None]:
        """Note a call of a hook; gives the note, and what is to be done."""
        number = self.calls[hook]
        self.calls[hook] += 1
        act = self._planned.get((hook, number))
        shown = {name: value for name, value in given.items() if name not in ("agent", "session", "call_next")}
        noted: Hooked = self.world.note(Hooked(self.name, hook, shown))
        return noted, act

    def do(self, hook: str, given: Mapping[str, Any]) -> Any:
        """The plain form."""
        noted, act = self.begun(hook, given)
        if act == "overrun" or (act == "cancel" and hook in ALWAYS_PLAIN):
            act = None  # a plain hook that does not end holds everybody, and a cancellation there has no one place
        noted.act = act
        if act == "raise":
            raise ValueError(f"{self.name} failed in {hook}")
        if act == "raise_base":
            raise Nasty(f"{self.name} failed badly in {hook}")
        if act == "cancel":
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
        elif act == "re-enter":
            with contextlib.suppress(Exception):
                given["agent"].run_sync("once more")
        noted.returned = acting.returned(self, hook, act, given)
        return noted.returned

    async def do_later(self, hook: str, given: Mapping[str, Any]) -> Any:
        """The asynchronous form."""
        noted, act = self.begun(hook, given)
        if act == "overrun":
            noted.act = act
            await asyncio.get_running_loop().create_future()
        await asyncio.sleep(0)
        around = hook in ALWAYS_ASYNC
        result = None
        if not around or act in ("note", "twice"):
            noted.act = act
        if around and not (act in ("raise", "instead") and self.index == 0):
            arguments = (given["request"],) if hook == "wrap_model_call" else ()
            if act == "note" and hook == "wrap_model_call":
                arguments = (given["request"].with_note(self.world.token("note")),)
            result = await given["call_next"](*arguments)
            if act == "twice":
                result = await given["call_next"](*arguments)
        noted.act = act
        if act == "raise":
            raise ValueError(f"{self.name} failed in {hook}")
        if act == "raise_base":
            raise Nasty(f"{self.name} failed badly in {hook}")
        if act == "cancel":
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            await asyncio.sleep(0)
        if act == "re-enter":
            with contextlib.suppress(Exception):
                await given["agent"].run("once more")
        value = acting.returned(self, hook, act, given)
        noted.returned = result if around and value is None else value
        return noted.returned


class Watch:
    """A plugin that notes each call of its hooks and does nothing else."""

    def __init__(self, world: World) -> None:
        self.name = "watch"
        self.world = world
        for hook in HOOKS:
            if hook not in (*ALWAYS_ASYNC, *ALWAYS_PLAIN):
                setattr(self, hook, _implementation(self, hook, False))

    def do(self, hook: str, given: Mapping[str, Any]) -> None:
        """Note it."""
        shown = {name: value for name, value in given.items() if name not in ("agent", "session")}
        self.world.note(Hooked(self.name, hook, shown))


def _implementation(plugin: Any, hook: str, is_async: bool) -> Any:
    """A function with the hook's own arguments, which hands them to the plugin."""
    return hookimpl(_maker(hook, is_async)(plugin))


@functools.cache
def _maker(hook: str, is_async: bool) -> Callable[[Any], Any]:
    names = ", ".join(inspect.signature(getattr(hookspecs, hook)).parameters)
    given = ", ".join(f"{name}={name}" for name in names.split(", "))
    call = f"await plugin.do_later('{hook}', dict({given}))" if is_async else f"plugin.do('{hook}', dict({given}))"
    define = f"{'async ' if is_async else ''}def {hook}({names}):"
    scope: dict[str, Any] = {}
    exec(f"def make(plugin):\n    {define}\n        return {call}\n    return {hook}", scope)
    maker: Callable[[Any], Any] = scope["make"]
    return maker
