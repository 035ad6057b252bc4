"""The records of every round, written as JSON by hand: four a round, all on disk before anything goes on.

What is written is the text of `encode_record`, and where a value is anything but the plain thing that it nearly always
is, nothing is written and `encode_record` has to do it.
"""

from __future__ import annotations

import json.encoder
from collections.abc import Callable
from math import isfinite
from typing import Any

from hookagent.events import MessageEnd, ResponseReceived, ToolEnd, ToolStart
from hookagent.frozen import FrozenDict, JsonValue
from hookagent.messages import AssistantMessage, TextPart, ToolCall
from hookagent.usage import Usage

_quoted: Callable[[str], str] = json.encoder.encode_basestring
_make: Any = getattr(json.encoder, "c_make_encoder", None)


def _pieces(value: JsonValue, depth: int) -> tuple[str, ...]:
    return (_SLOW(value),)


_SLOW = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
# What `JSONEncoder.encode` makes anew with each call; without its look for circles, which frozen values have none of.
_ENCODE: Callable[[JsonValue, int], tuple[str, ...]] = (
    _pieces if _make is None else _make(None, None, _quoted, None, ":", ",", False, False, False)
)


class QuickText:
    """Makes the kind and the JSON text of a record straight from its event, or gives None.

    It remembers what the last reply asked for, since most calls run with the same arguments.
    """

    __slots__ = ("_asked", "_usage", "_used")

    def __init__(self) -> None:
        self._asked: dict[str, tuple[JsonValue, str]] = {}
        self._used: Usage | None = None
        self._usage = ""

    def response(self, event: ResponseReceived) -> tuple[str, str] | None:
        """A model call's usage. Raises ValueError for a text that is not valid Unicode."""
        spent = event.milliseconds
        if not isfinite(spent):
            return None
        usage = self._usage_text(event.usage)
        return (
            "response",
            f'{{"v":1,"event":{event.number},"usage":{{{usage}}},"stop_reason":{_text(event.stop_reason)},'
            f'"milliseconds":{float(spent)!r}}}',
        )

    def reply(self, event: MessageEnd) -> tuple[str, str] | None:
        """A reply of texts and calls."""
        message = event.message
        if type(message) is not AssistantMessage:
            return None
        parts = []
        asked = {}
        for part in message.parts:
            if type(part) is ToolCall:
                arguments = part.arguments
                text = _arguments(arguments)
                asked[part.id] = (arguments, text)
                parts.append(f'{{"call":{_call(part, text)}}}')
            elif type(part) is TextPart:
                parts.append(f'{{"text":{_text(part.text)}}}')
            else:
                return None
        self._asked = asked
        model = f',"model":{_text(message.model)}' if message.model else ""
        provider = f',"provider":{_text(message.provider)}' if message.provider else ""
        detail = f',"stop_detail":{_text(message.stop_detail)}' if message.stop_detail else ""
        usage = self._usage_text(message.usage)
        if usage:
            usage = f',"usage":{{{usage}}}'
        return (
            "reply",
            f'{{"v":1,"event":{event.number},"message":{{"parts":[{",".join(parts)}],'
            f'"stop_reason":{_text(message.stop_reason)}{model}{provider}{detail}{usage}}}}}',
        )

    def start(self, event: ToolStart) -> tuple[str, str] | None:
        """A call that is about to run."""
        call = event.call
        arguments, text = self._asked.get(call.id, (None, ""))
        if arguments is None or arguments is not call.arguments:
            text = _arguments(call.arguments)
        return "start", f'{{"v":1,"event":{event.number},"call":{_call(call, text)}}}'

    def result(self, event: ToolEnd) -> tuple[str, str] | None:
        """A call's result."""
        result = event.result
        failed = ',"is_error":true' if result.is_error else ""
        error = "" if result.error_type is None else f',"error_type":{_text(result.error_type)}'
        spent = result.milliseconds
        if spent is None:
            took = ""
        elif isfinite(spent):
            took = f',"milliseconds":{float(spent)!r}'
        else:
            return None
        return (
            "result",
            f'{{"v":1,"event":{event.number},"result":{{"call_id":{_text(result.call_id)},'
            f'"content":{_text(result.content)},"status":{_text(result.status)}{failed}{error}{took}}}}}',
        )

    def _usage_text(self, usage: Usage) -> str:
        if usage is not self._used:
            self._usage = _usage(usage)
            self._used = usage
        return self._usage


Quick = Callable[[QuickText, Any], tuple[str, str] | None]

QUICK: dict[type, Quick] = {
    MessageEnd: QuickText.reply,
    ResponseReceived: QuickText.response,
    ToolStart: QuickText.start,
    ToolEnd: QuickText.result,
}
"""What makes the text for each kind of event that comes in every round."""


def _usage(usage: Usage) -> str:
    cost = usage.cost_usd
    if cost is not None and not isfinite(cost):
        raise ValueError("a cost that is no number")
    counts = [
        f'"{name}":{count:d}'
        for name, count in (
            ("input_tokens", usage.input_tokens),
            ("cache_read_tokens", usage.cache_read_tokens),
            ("cache_write_tokens", usage.cache_write_tokens),
            ("output_tokens", usage.output_tokens),
            ("requests", usage.requests),
        )
        if count
    ]
    if cost is None:
        counts.append('"cost_usd":null')
    elif cost:
        counts.append(f'"cost_usd":{float(cost)!r}')
    return ",".join(counts)


def _call(call: ToolCall, arguments: str) -> str:
    raw = "" if call.raw is None else f',"raw":{_text(call.raw)}'
    problem = "" if call.problem is None else f',"problem":{_text(call.problem)}'
    return f'{{"id":{_text(call.id)},"name":{_text(call.name)},"arguments":{arguments}{raw}{problem}}}'


def _arguments(arguments: JsonValue) -> str:
    if arguments is None:
        return "null"
    # A plain mapping is encoded twice as fast.
    text = "".join(_ENCODE({**arguments} if type(arguments) is FrozenDict else arguments, 0))
    if not text.isascii():
        text.encode()  # raises for halves of surrogate pairs
    return text


def _text(text: str) -> str:
    if not text.isascii():
        text.encode()  # raises for halves of surrogate pairs
    return _quoted(text)
