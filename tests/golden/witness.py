"""Plugins made for the traces: one that implements every hook of the contract and notes it, one that acts.

Both are made from the contract table and the signatures of the hookspecs, so that a new hook is witnessed too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from hookagent import hookimpl, hookspecs
from hookagent.contract import CONTRACTS
from tests.core.plugin_making import Made
from tests.golden.notes import Note
from tests.golden.words import end_words, event_words, hook_words

Given = dict[str, Any]
Act = Callable[[Given], Any]


class Witness(Made):
    """Implements every hook, and notes each call in `notes`; `calls` has the hooks (not `on_event`) with arguments.

    `is_async` writes those hooks with `async def` that may be written both ways. `on_note` is called with each event.
    """

    def __init__(self, is_async: bool, on_event: Callable[[Any], object]) -> None:
        super().__init__("witness")
        self.notes: list[Note] = []
        self.calls: list[tuple[str, Given]] = []
        self.events: list[Any] = []
        self._on_event = on_event
        for hook, contract in CONTRACTS.items():
            act = self._around(hook) if contract.kinds == ("around",) else self._noting(hook)
            implement(self, hook, act, is_async=is_async)

    def _noting(self, hook: str) -> Act:
        def note(given: Given) -> None:
            if hook == "on_event":
                event = given["event"]
                self.events.append(event)
                self.notes.append(Note("event", event.type, event_words(event)))
                self._on_event(event)
                return
            self.calls.append((hook, given))
            self.notes.append(Note("hook", hook, hook_words(hook, given)))

        return note

    def _around(self, hook: str) -> Act:
        async def note(given: Given) -> Any:
            self.calls.append((hook, given))
            self.notes.append(Note("hook", hook, hook_words(hook, given)))
            result: Any = None
            try:
                result = await call_on(given)
            except BaseException as error:
                result = error
                raise
            finally:
                self.notes.append(Note("end", hook, end_words(result)))
            return result

        return note


def acting(acts: Mapping[str, Act], is_async: bool) -> Made:
    """The plugin 'actor': what a scenario wants of a plugin, after the witness has noted the hook."""
    actor = Made("actor")
    for hook, act in acts.items():
        implement(actor, hook, act, is_async=is_async)
    return actor


async def call_on(given: Given) -> Any:
    """Call `call_next` as an around hook that changes nothing does."""
    return await (given["call_next"](given["request"]) if "request" in given else given["call_next"]())


def implement(plugin: Any, hook: str, act: Act, *, is_async: bool) -> None:
    """Set a hook of a plugin to a function with all of the hook's arguments, which hands them to `act`."""
    form = CONTRACTS[hook].form
    is_async = form == "async" or (is_async and form == "either")
    names = list(inspect.signature(getattr(hookspecs, hook)).parameters)
    given = ", ".join(f"{name}={name}" for name in names)
    body = "return await result if isawaitable(result) else result" if is_async else "return result"
    source = (
        f"{'async ' if is_async else ''}def {hook}({', '.join(names)}):\n    result = act(dict({given}))\n    {body}"
    )
    scope: dict[str, Any] = {"act": act, "isawaitable": inspect.isawaitable}
    exec(source, scope)
    setattr(plugin, hook, hookimpl(scope[hook]))
