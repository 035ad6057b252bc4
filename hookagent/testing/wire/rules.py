"""The rules that the whole wire checkers enforce, and what the three checkers have in common.

Every rule has an id, a sentence and the wire forms it holds on. The rules come from the vendors' public API references
(Anthropic Messages, OpenAI Responses, OpenAI Chat Completions) and from the ordering rule of the design; where the two
differ the stricter one is enforced. Nothing here is shared with the product: a fault in the code that builds requests
cannot hide in the code that judges them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NoReturn, Protocol, TypeGuard

Wire = Literal["messages", "responses", "chat"]

MESSAGES: Final[Wire] = "messages"
RESPONSES: Final[Wire] = "responses"
CHAT: Final[Wire] = "chat"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: what it asks of a request, and on which wire forms it holds."""

    says: str
    wires: tuple[Wire, ...] = (MESSAGES, RESPONSES, CHAT)


_OPENAI: Final = (RESPONSES, CHAT)

RULES: Final[Mapping[str, Rule]] = {
    # values
    "json-value": Rule("every value is strict JSON: no NaN, no infinity, no foreign types"),
    "json-text": Rule("every text is valid Unicode: no lone surrogates"),
    "unknown-field": Rule("no field that the API reference does not list, at the top or in a message"),
    # the head of the request
    "field-type": Rule("switches are true or false, settings of several parts are objects, lists are lists"),
    "model": Rule("model is a non-blank text"),
    "output-limit": Rule("the output limit is an integer in its range (required on messages)"),
    "thinking-budget": Rule("a thinking budget is at least 1024 and below max_tokens", (MESSAGES,)),
    "cache-breakpoints": Rule("at most 4 cache breakpoints", (MESSAGES,)),
    "stream-options": Rule("stream_options only with stream", _OPENAI),
    "previous-response": Rule("no previous_response_id and no item_reference with store=false", (RESPONSES,)),
    # tools
    "tool-name": Rule("tool names are letters, digits, _ and -, up to the wire's length"),
    "tool-name-duplicate": Rule("no two tools of one name"),
    "tool-schema": Rule("a tool's schema is a JSON schema of type object"),
    "tools-empty": Rule("tools is left out rather than empty", (CHAT,)),
    "tools-undeclared": Rule("tools are declared when the history has calls", (MESSAGES,)),
    "tool-choice": Rule("tool_choice and parallel_tool_calls only with tools, naming one of them"),
    # messages
    "messages-empty": Rule("there is at least one message"),
    "unknown-role": Rule("the role is one of the wire's"),
    "content-shape": Rule("content has the shape and the block types that its role takes"),
    "content-empty": Rule("no message without content"),
    "blank-text": Rule("no text of white space only"),
    "first-role": Rule("the first message (after system and developer ones) is the user's"),
    "last-turn": Rule("the last message is the user's or a tool result (or a paused server tool call)"),
    # calls and results
    "call-id-missing": Rule("every call and every result has a non-empty id"),
    "call-id-shape": Rule("call ids have the characters and the length that the wire takes"),
    "call-id-duplicate": Rule("no two calls of one id"),
    "calls-empty": Rule("tool_calls is left out rather than empty", (CHAT,)),
    "arguments": Rule("arguments are an object (messages) or a text of strict JSON (responses, chat)"),
    "call-unanswered": Rule("every call has a result"),
    "result-orphaned": Rule("every result has a call"),
    "result-duplicate": Rule("every call has one result only"),
    "result-late": Rule("results come directly behind their calls"),
    "result-misplaced": Rule("a result stands behind its call, on the user's side, ahead of other content"),
    # thinking and reasoning
    "thinking-signature": Rule("a thinking block keeps its signature", (MESSAGES,)),
    "redacted-data": Rule("a redacted_thinking block keeps its data", (MESSAGES,)),
    "thinking-changed": Rule("thinking, its signature and redacted data come back as they were sent", (MESSAGES,)),
    "thinking-first": Rule("with thinking enabled the last answered tool_use turn begins with thinking", (MESSAGES,)),
    "reasoning-alone": Rule("a reasoning item is followed by the item it belongs to", (RESPONSES,)),
    "reasoning-missing": Rule("an item is sent with the reasoning item it came with", (RESPONSES,)),
    "reasoning-content": Rule("with store=false a reasoning item keeps its encrypted_content", (RESPONSES,)),
    "reasoning-changed": Rule("encrypted_content comes back as it was sent, under its item's id", (RESPONSES,)),
    "item-id": Rule("an item id begins with the prefix of its type and is not used twice", (RESPONSES,)),
}


_FIELD_TYPES: Final[Mapping[type, tuple[str, ...]]] = {
    bool: ("stream", "store", "parallel_tool_calls", "background"),
    dict: ("thinking", "output_config", "metadata", "reasoning", "stream_options", "text", "response_format"),
    list: ("include", "stop_sequences"),
}


class WireError(Exception):
    """A request that a provider would refuse.

    `rule` is an id from `RULES`, `index` the position in `messages` (or `input`) that is at fault, None for the head of
    the request, and `message` says what is wrong there.
    """

    def __init__(self, rule: str, index: int | None, message: str) -> None:
        super().__init__(f"{rule}: {message}")
        self.rule = rule
        self.index = index
        self.message = message


class Signer(Protocol):
    """What a checker asks about the signed parts of a transcript, when it knows who signed them."""

    def thinking_is_genuine(self, text: str, signature: str) -> bool:
        """Say whether `signature` was made for exactly this thinking text."""

    def redacted_is_genuine(self, data: str) -> bool:
        """Say whether the data of a redacted thinking block was made by this signer."""

    def reasoning_is_genuine(self, item_id: str, encrypted_content: str) -> bool:
        """Say whether `encrypted_content` was made for the reasoning item of this id."""

    def required_reasoning(self, item_id: str) -> str | None:
        """Give the id of the reasoning item that an output item came with, or None."""


def words(text: str) -> frozenset[str]:
    """Give the words of a text as a set: how the field lists of the checkers are written."""
    return frozenset(text.split())


def refuse(rule: str, index: int | None, message: str) -> NoReturn:
    """Raise the `WireError` of a rule; an unknown rule id is a fault of the checker and raises KeyError."""
    RULES[rule]
    raise WireError(rule, index, message)


def is_one_of(value: Any, options: Collection[str]) -> TypeGuard[str]:
    """Say whether a value, which may be of any JSON type, is one of some texts."""
    return isinstance(value, str) and value in options


def is_blank(text: str) -> bool:
    """Say whether a text is empty or white space only."""
    return not text.strip()


def check_values(body: Mapping[str, Any], list_field: str) -> None:
    """Refuse what strict JSON in UTF-8 cannot carry, anywhere in the body.

    `list_field` names the field whose position becomes the error's index (`messages` or `input`).
    """
    for field, value in body.items():
        _check_text(field, None, "a field name")
        if field == list_field and isinstance(value, list):
            for index, item in enumerate(value):
                _check_value(item, index, f"{field}[{index}]")
        else:
            _check_value(value, None, field)


def check_fields(value: Mapping[str, Any], allowed: frozenset[str], index: int | None, where: str) -> None:
    """Refuse fields that are not in `allowed`."""
    unknown = [field for field in value if field not in allowed]
    if unknown:
        refuse("unknown-field", index, f"{where} has unknown field {unknown[0]!r}")


def check_field_types(body: Mapping[str, Any]) -> None:
    """Refuse settings of the request that are not of the type that the references give them; null counts as absent."""
    for types, fields in _FIELD_TYPES.items():
        for field in fields:
            if body.get(field) is not None and not isinstance(body[field], types):
                refuse("field-type", None, f"{field} is {body[field]!r}, not of type {types.__name__}")


def check_model(body: Mapping[str, Any]) -> None:
    """Refuse a request without a model name."""
    model = body.get("model")
    if not isinstance(model, str) or is_blank(model):
        refuse("model", None, "model is required and is a text")


def check_tool_name(name: Any, longest: int, index: int | None, where: str) -> None:
    """Refuse a tool name with other characters than letters, digits, _ and -, or longer than `longest`."""
    if not isinstance(name, str) or not re.fullmatch(rf"[a-zA-Z0-9_-]{{1,{longest}}}", name):
        refuse("tool-name", index, f"{where} has name {name!r}, which is not 1 to {longest} of a-z, A-Z, 0-9, _ and -")


def check_unique_names(names: Sequence[str]) -> None:
    """Refuse a tool name that is declared twice."""
    for position, name in enumerate(names):
        if name in names[:position]:
            refuse("tool-name-duplicate", None, f"tools[{position}] declares {name!r} a second time")


def check_object_schema(schema: Any, where: str) -> None:
    """Refuse a tool schema that is not a JSON schema of type object."""
    if not isinstance(schema, Mapping) or schema.get("type") != "object":
        refuse("tool-schema", None, f"{where} is not a JSON schema with type 'object'")
    properties = schema.get("properties")
    if properties is not None and not isinstance(properties, Mapping):
        refuse("tool-schema", None, f"{where}.properties is not an object")


def check_call_id(id: Any, index: int, where: str) -> str:
    """Refuse a missing or empty id of a call or a result, and return it otherwise."""
    if not isinstance(id, str) or not id:
        refuse("call-id-missing", index, f"{where} has no id, but {id!r}")
    return id


def check_arguments_text(arguments: Any, index: int, where: str) -> None:
    """Refuse call arguments that are not a text of strict JSON in valid Unicode."""
    if not isinstance(arguments, str):
        refuse("arguments", index, f"{where}.arguments is not a text")
    try:
        value = json.loads(arguments, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        refuse("arguments", index, f"{where}.arguments is not strict JSON: {error}")
    _check_value(value, index, f"{where}.arguments")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _check_text(text: str, index: int | None, where: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        refuse("json-text", index, f"{where} has a lone surrogate at position {error.start}")


def _check_value(value: Any, index: int | None, where: str) -> None:
    # An explicit stack: tool arguments may be nested deeper than Python's own recursion limit.
    waiting: list[Any] = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, str):
            _check_text(current, index, where)
        elif isinstance(current, float):
            if not math.isfinite(current):
                refuse("json-value", index, f"{where} has the number {current}, which JSON cannot carry")
        elif isinstance(current, Mapping):
            for key in current:
                if not isinstance(key, str):
                    refuse("json-value", index, f"{where} has the key {key!r}, which is not a text")
                _check_text(key, index, where)
            waiting.extend(current.values())
        elif isinstance(current, list):
            waiting.extend(current)
        elif current is not None and not isinstance(current, (bool, int)):
            refuse("json-value", index, f"{where} has a {type(current).__name__}, which is not JSON")
