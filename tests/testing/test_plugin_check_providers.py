"""Providers: good ones pass the check, and each that breaks its contract is refused."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import pytest

from hookagent import AssistantMessage, Delta, ProviderError, Request, TextPart, ToolCall, Usage, freeze
from hookagent.testing import ScriptedProvider, check_provider

GOOD = AssistantMessage((TextPart("There is an apple."),), "end")
CALLS = AssistantMessage((ToolCall("c1", "reference_look", freeze({"item": "apple"})),), "tool_calls")


class Made:
    """A provider that gives these items, or raises one of them, whatever it is asked."""

    name, model, wire, notice, context_window = "made", "of a list", None, "", None

    def __init__(self, *items: Any) -> None:
        self.items = items

    async def stream(self, request: Request) -> AsyncIterator[Any]:
        for item in self.items:
            if isinstance(item, BaseException):
                raise item
            yield item


@pytest.mark.parametrize(
    "provider",
    [
        Made(Delta("text", "There "), Delta("text", "is."), GOOD),
        Made(Delta("text", "There"), ProviderError("server", "made", "it broke")),
        ScriptedProvider(lambda request: "There is a pear."),
    ],
)
def test_a_provider_that_keeps_its_contract_passes(provider: Any) -> None:
    report = check_provider(provider)
    assert report.runs == ("run 'one question'", "run 'two turns'")


BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "no end": (lambda: Made(Delta("text", "There")), "its stream ended without the whole message"),
    "goes on": (lambda: Made(GOOD, Delta("text", "more")), "its stream goes on behind the whole message"),
    "no delta": (lambda: Made("There", GOOD), "its stream gives 'There', which is neither a Delta nor"),
    "a kind of its own": (lambda: Made(Delta("noise", "x"), GOOD), "which is neither a Delta nor the whole message"),
    "raises": (lambda: Made(ValueError("no")), "its stream raised ValueError: no; it may raise ProviderError only"),
    "one id for ever": (lambda: Made(CALLS), "the ids of its calls are not new: 'c1'"),
    "calls and no reason": (lambda: Made(replace(CALLS, stop_reason="end")), "has 1 calls and the stop reason 'end'"),
    "nothing": (lambda: Made(replace(GOOD, parts=())), "its reply has neither text nor calls"),
    "counts down": (lambda: Made(replace(GOOD, usage=Usage(input_tokens=-1))), "its usage counts below zero"),
    "no such model": (lambda: "nobody:model", "loading: it cannot be had: "),
}


@pytest.mark.parametrize("name", BAD)
def test_a_provider_that_breaks_its_contract_is_refused(name: str) -> None:
    make, says = BAD[name]
    with pytest.raises(AssertionError) as caught:
        check_provider(make())
    assert says in str(caught.value)
    assert "what to do: " in str(caught.value)
