"""What hooks may make of a request, who is named when it cannot be sent, and what a failing model is."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from hookagent import Agent, BlockView, PluginError, ToolCall, Transcript
from hookagent.messages import AssistantMessage, TextPart
from hookagent.providers.scripted import ScriptedProvider
from hookagent.testing import Recorder
from hookagent.verdicts import Replace
from tests.core.plugin_making import Around, made
from tests.core.scripts import calls, make_agent, words

ANSWER = {"text": "done"}


def test_an_earlier_error_of_the_model_that_a_hook_raises_again_is_not_its_own() -> None:
    async def retrying(request: Any, call_next: Any) -> Any:
        try:
            return await call_next(request)
        except Exception as first:
            try:
                return await call_next(request)
            except Exception:
                raise first from None

    script = [{"error": "authentication", "message": "first"}, {"error": "authentication", "message": "second"}]
    result = make_agent(script, Around("retries", model=retrying)).run_sync("go")
    assert (result.status, result.reason) == ("failed", "scripted: first")


@pytest.mark.parametrize("change", ["system", "protected", "kind", "transcript"])
@pytest.mark.parametrize("hook", ["shape_request", "wrap_model_call"])
def test_a_request_that_no_hook_may_make_is_not_sent_and_named(change: str, hook: str) -> None:
    def changed(request: Any) -> Any:
        if change == "system":
            return replace(request, system="")
        if change == "protected":
            return replace(request, protected=()).dropping_before(2)
        if change == "kind":
            return replace(request, blocks=list(request.blocks))
        return replace(request, blocks=BlockView(Transcript(list(request.blocks))))

    async def wrap(request: Any, call_next: Any) -> Any:
        return await call_next(changed(request))

    plugin = made("cuts", shape_request=changed) if hook == "shape_request" else Around("cuts", model=wrap)
    before = made("before", shape_request=lambda request: request.with_note("a note"))
    agent = make_agent([ANSWER], before, plugin, system_prompt="Be brief.")
    with pytest.raises(PluginError, match="made a request that cannot be sent") as raised:
        agent.run_sync(["one", "two", "three"])
    assert (raised.value.plugin, raised.value.hook) == ("cuts", hook)
    assert words(agent.session.transcript) == ["U one", "U two", "U three"]


def test_a_note_keeps_the_name_of_who_added_it() -> None:
    seen: list[Any] = []

    async def wrap(request: Any, call_next: Any) -> Any:
        return await call_next(request.with_note("from wrap"))

    def reply(request: Any) -> Any:
        seen.extend((note.text, note.origin) for note in request.notes)
        return "done"

    shaped = made("shapes", shape_request=lambda request: request.with_note("from shape"))
    Agent(model=ScriptedProvider(reply), plugins=[shaped, Around("wraps", model=wrap)]).run_sync("go")
    assert seen == [("from shape", "shapes"), ("from wrap", "wraps")]


@pytest.mark.parametrize("error", [ValueError, SystemExit, asyncio.CancelledError])
@pytest.mark.parametrize("wrapped", [False, True])
def test_a_provider_that_raises_what_it_should_not_is_a_failed_model(error: type[BaseException], wrapped: bool) -> None:
    def reply(request: Any) -> Any:
        raise error("odd")

    seen: list[BaseException] = []
    looks = made("looks", on_error=lambda error: seen.append(error))
    plugins = [looks, Recorder()] if wrapped else [looks]
    agent = Agent(model=ScriptedProvider(reply), plugins=plugins)
    result = asyncio.run(agent.run("go"))
    assert result.status == "failed"
    assert len(seen) == 1
    assert words(result.session.transcript) == ["U go"]


ODD_REPLIES: list[tuple[Any, str]] = [
    ({"parts": [TextPart("x")]}, "a reply whose parts are a list, not a tuple"),
    ({"parts": (TextPart(5),)}, "a reply whose text is a int"),  # type: ignore[arg-type]
    ({"parts": (ToolCall("c", "ok", {}),)}, "arguments are a dict; hookagent.freeze them"),  # type: ignore[arg-type]
    ({"parts": (ToolCall("c", "", None),)}, "a call whose id or name is not text"),
    ({"parts": (TextPart("x"),), "stop_reason": "odd"}, "the stop reason 'odd'; it is one of"),
    ({"parts": ("x",)}, "a reply with a str among its parts"),
]


@pytest.mark.parametrize(("fields", "reason"), ODD_REPLIES)
def test_a_reply_is_looked_into_before_it_takes_the_place_of_the_models(fields: Any, reason: str) -> None:
    agent = make_agent([ANSWER], made("odd", after_llm=lambda response: Replace(AssistantMessage(**fields))))
    with pytest.raises(PluginError, match="plugin 'odd': hook 'after_llm' returned ") as raised:
        agent.run_sync("go")
    assert reason in str(raised.value)
    assert words(agent.session.transcript) == ["U go", "A done"]


def test_a_reply_that_the_output_limit_cut_stays_cut_whatever_a_plugin_says() -> None:
    def whole(response: Any) -> Any:
        return Replace(replace(response, stop_reason="tool_calls")) if response.tool_calls else None

    result = make_agent([{**calls("ok"), "stop": "length"}, ANSWER], made("whole", after_llm=whole)).run_sync("go")
    assert words(result.session.transcript) == ["U go", "A c1", "R c1 not_run", "A done"]


def test_settings_are_frozen_through_and_through() -> None:
    def change(request: Any) -> None:
        request.settings["scripted"]["list"].append(1)

    chosen: dict[str, Any] = {"scripted": {"list": []}}
    agent = make_agent([ANSWER], made("sly", shape_request=change), model_settings=chosen)
    with pytest.raises(PluginError, match="frozen value"):
        agent.run_sync("go")
    assert chosen == {"scripted": {"list": []}}
