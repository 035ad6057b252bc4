"""The three checkers at their edges: parts and tools that are hardly ever sent, the good ones as well as the bad."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hookagent.testing.wire import WireError
from hookagent.testing.wire.anthropic_messages import check_messages_request
from hookagent.testing.wire.openai_chat import check_chat_request
from hookagent.testing.wire.openai_responses import check_responses_request

Check = Callable[[dict[str, Any]], None]
SCHEMA = {"type": "object"}
IMAGE = {"type": "image", "source": {"type": "url", "url": "https://example.org/apple.png"}}
MARK = {"cache_control": {"type": "ephemeral"}}


def messages(*turns: Any, **more: Any) -> dict[str, Any]:
    """A request to the Messages API: one word of the user, then these turns."""
    first = {"role": "user", "content": "go"}
    return {"model": "claude-sonnet-5", "max_tokens": 100, "messages": [first, *turns], **more}


def called(content: Any, **more: Any) -> dict[str, Any]:
    """A request to the Messages API with one call, whose result has this content."""
    return messages(
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {}, **more}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": content}]},
        tools=[{"name": "look", "input_schema": SCHEMA}],
    )


def thought(**block: Any) -> dict[str, Any]:
    """A request to the Messages API with this block of thinking, and the user's next word."""
    block = {"type": "thinking", "thinking": "hm", "signature": "s", **block}
    parts = [block, {"type": "text", "text": "done"}]
    return messages({"role": "assistant", "content": parts}, {"role": "user", "content": "and?"})


def chat(*turns: Any, **more: Any) -> dict[str, Any]:
    """A request to Chat Completions: one word of the user, then these turns."""
    return {"model": "gpt-5", "messages": [{"role": "user", "content": "go"}, *turns], **more}


def chat_call(**call: Any) -> dict[str, Any]:
    """An assistant's message with one call."""
    return {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", **call}]}


def responses(*items: Any, **more: Any) -> dict[str, Any]:
    """A request to the Responses API: one word of the user, then these items."""
    return {"model": "gpt-5", "input": [{"role": "user", "content": "go"}, *items], **more}


REFUSED: list[tuple[Check, dict[str, Any], str, int | None, str]] = [
    (check_messages_request, messages(system=" "), "blank-text", None, "system is blank"),
    (check_messages_request, messages(system=[IMAGE]), "content-shape", None, "system is neither a text nor a list of"),
    (
        check_messages_request,
        messages(system=[{"type": "text", "text": 5}]),
        "content-shape",
        None,
        "system[0].text is not a text",
    ),
    (check_messages_request, messages(tools={"look": SCHEMA}), "tool-schema", None, "tools is not a list"),
    (check_messages_request, messages(tools=["look"]), "tool-schema", None, "tools[0] is not an object"),
    (
        check_messages_request,
        messages(tools=[{"name": "look", "input_schema": SCHEMA}], tool_choice={"type": "some"}),
        "tool-choice",
        None,
        "not of type auto, any, tool or none",
    ),
    (
        check_messages_request,
        messages(tools=[{"name": "look", "input_schema": {**SCHEMA, "properties": ["q"]}}]),
        "tool-schema",
        None,
        "tools[0].input_schema.properties is not an object",
    ),
    (check_messages_request, thought(thinking=None), "content-shape", 1, "messages[1].content[0].thinking is not a"),
    (check_messages_request, called(5), "content-shape", 2, "neither a text nor a list of blocks"),
    (check_messages_request, called(["found"]), "content-shape", 2, "content[0] is of a type that a tool_result"),
    (
        check_messages_request,
        called([{"type": "tool_use", "id": "c2"}]),
        "content-shape",
        2,
        "content[0] is of a type that a tool_result cannot hold",
    ),
    (check_messages_request, messages(metadata={"who": {1}}), "json-value", None, "metadata has a set, which is not"),
    (check_chat_request, chat("and?"), "content-shape", 1, "messages[1] is not an object"),
    (
        check_chat_request,
        chat(tools=[{"type": "function", "function": "look"}]),
        "tool-schema",
        None,
        "tools[0].function is not an object",
    ),
    (
        check_chat_request,
        chat({"role": "user", "content": [{"type": "text", "text": None}]}),
        "content-shape",
        1,
        "messages[1].content[0].text is not a text",
    ),
    (
        check_chat_request,
        chat(chat_call(function="look")),
        "content-shape",
        1,
        "messages[1].tool_calls[0].function is not an object",
    ),
    (
        check_chat_request,
        {"model": "gpt-5", "messages": [{"role": "system", "content": "Be brief."}]},
        "last-turn",
        0,
        "the last message has role 'system'",
    ),
    (check_responses_request, responses(tools={"look": SCHEMA}), "tool-schema", None, "tools is not a list"),
    (check_responses_request, responses(tools=[{"name": "look"}]), "tool-schema", None, "tools[0] has no type"),
    (
        check_responses_request,
        responses(tools=[{"type": "function", "name": "look"}], tool_choice="some"),
        "tool-choice",
        None,
        "tool_choice is 'some', not none, auto or required",
    ),
    (
        check_responses_request,
        responses({"role": "user", "content": [{"type": "input_text"}]}),
        "content-shape",
        1,
        "input[1].content[0] has no text",
    ),
    (
        check_responses_request,
        responses(
            {"type": "reasoning", "id": "rs_1", "summary": None, "encrypted_content": "x"},
            {"role": "user", "content": "and?"},
        ),
        "content-shape",
        1,
        "input[1] has no id or no summary list",
    ),
    (
        check_responses_request,
        {"model": "gpt-5", "input": [{"role": "developer", "content": "Be brief."}]},
        "last-turn",
        0,
        "the last item is neither the user's nor a result",
    ),
]


@pytest.mark.parametrize("place", range(len(REFUSED)))
def test_one_fault_is_refused_by_its_rule_and_at_its_place(place: int) -> None:
    check, body, rule, index, says = REFUSED[place]
    with pytest.raises(WireError) as caught:
        check(body)
    assert (caught.value.rule, caught.value.index) == (rule, index)
    assert says in caught.value.message


TAKEN: dict[str, tuple[Check, dict[str, Any]]] = {
    "a system text": (check_messages_request, messages(system="Be brief.")),
    "a result without content": (check_messages_request, called(None)),
    "a result that is an image": (check_messages_request, called([IMAGE])),
    "a tool of the vendor": (
        check_messages_request,
        messages(tools=[{"type": "bash_20250124", "name": "bash"}], tool_choice={"type": "auto"}),
    ),
    "a choice beside thinking": (
        check_messages_request,
        messages(
            tools=[{"name": "look", "input_schema": {**SCHEMA, "properties": {}}}],
            tool_choice={"type": "auto"},
            thinking={"type": "adaptive"},
        ),
    ),
    "a tool of the caller's own form": (
        check_chat_request,
        chat(tools=[{"type": "custom", "custom": {"name": "look"}}]),
    ),
    "a tool without parameters": (
        check_chat_request,
        chat(tools=[{"type": "function", "function": {"name": "look"}}]),
    ),
    "an image for chat": (
        check_chat_request,
        chat({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]}),
    ),
    "a tool of the vendor for responses": (
        check_responses_request,
        responses(tools=[{"type": "web_search"}, {"type": "function", "name": "look"}], tool_choice="auto"),
    ),
    "an item of the vendor": (
        check_responses_request,
        responses({"type": "web_search_call", "id": "ws_1"}, {"role": "user", "content": "and?"}),
    ),
    "an image for responses": (
        check_responses_request,
        responses({"role": "user", "content": [{"type": "input_image", "image_url": "https://example.org/a.png"}]}),
    ),
}


@pytest.mark.parametrize("what", TAKEN)
def test_what_the_reference_allows_is_taken(what: str) -> None:
    check, body = TAKEN[what]
    check(body)


@pytest.mark.parametrize(("more", "fits"), [(0, True), (1, False)])
def test_marks_are_counted_whatever_the_blocks_hold(more: int, fits: bool) -> None:
    blocks: list[Any] = [{"type": "text", "text": f"word {number}", **MARK} for number in range(3 + more)]
    blocks.append({"type": "document", "content": ["not looked into", {"type": "text", "text": "a page", **MARK}]})
    body = messages({"role": "user", "content": blocks})
    if fits:
        check_messages_request(body)
        return
    with pytest.raises(WireError, match="5 blocks have cache_control, at most 4 may") as caught:
        check_messages_request(body)
    assert caught.value.rule == "cache-breakpoints"
