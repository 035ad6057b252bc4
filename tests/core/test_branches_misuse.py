"""What is done otherwise than it is meant, and what is said of it: two runs, two names, and what is no request."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from hookagent import MisuseError, PluginError, PluginLoadError, hookimpl
from hookagent.usage import Usage
from tests.core.plugin_making import Around
from tests.core.scripts import make_agent, words

ANSWER = {"text": "done"}


def test_while_a_stream_is_read_no_other_run_begins() -> None:
    async def main() -> None:
        agent = make_agent([ANSWER, ANSWER])
        said: list[str] = []
        async for event in agent.stream("go"):
            if event.type == "turn_start":
                with pytest.raises(MisuseError) as raised:
                    await agent.run("at the same time")
                said.append(str(raised.value))
        assert said == ["a run is active; wait for it, or queue the message with steer(...) or follow_up(...)"]
        assert words(agent.transcript) == ["U go", "A done"]

    asyncio.run(main())


def test_one_object_under_two_names_is_refused_once() -> None:
    class Changing:
        count = 0

        @property
        def name(self) -> str:
            self.count += 1
            return f"name {self.count}"

        @hookimpl
        def before_llm(self, iteration: int) -> None:
            """Do nothing."""

    plugin = Changing()
    with pytest.raises(PluginLoadError, match="plugin 'name 1': Plugin "):
        make_agent([], plugin, plugin)


def test_what_a_plugin_used_is_booked_to_it_also_outside_of_a_run() -> None:
    agent = make_agent([ANSWER], log=False)
    agent.book(Usage(5, output_tokens=2), "reflects")
    agent.book(Usage(1), "reflects")
    agent.store_state("reflects", {"seen": [1]})
    assert agent.session.stored_state("reflects") == {"seen": [1]}
    assert agent.session.plugin_usage == {"reflects": Usage(6, output_tokens=2)}
    assert agent.session.usage.total_tokens == 8
    assert agent.limits.max_iterations == 10


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (lambda request: ("hello",), "call_next() takes a Request, not a str"),
        (lambda request: (), "call_next() takes a Request, not nothing"),
        (lambda request: (request, 5), "call_next() takes a Request, not a Request and a int"),
        (lambda request: (replace(request, notes="a note"),), "notes"),
        (lambda request: (replace(request, notes=("a note",)),), "notes"),
    ],
)
def test_what_is_no_request_is_not_sent_and_the_hook_is_named(given: Any, says: str) -> None:
    asked: list[Any] = []

    async def model(request: Any) -> Any:
        asked.append(request)
        return ANSWER

    async def wraps(request: Any, call_next: Any) -> Any:
        return await call_next(*given(request))

    agent = make_agent(model, Around("wraps", model=wraps))  # type: ignore[arg-type]
    with pytest.raises(PluginError, match="plugin 'wraps': hook 'wrap_model_call' ") as raised:
        agent.run_sync("go")
    assert says in str(raised.value)
    assert asked == []
