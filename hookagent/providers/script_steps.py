"""One step of a script: what it may say, and the reply it becomes."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast, get_args

from hookagent.errors import ConfigurationError, ProviderError, ProviderErrorKind
from hookagent.frozen import FrozenDict, freeze
from hookagent.messages import STOP_REASONS, AssistantMessage, ProviderPart, StopReason, TextPart, ToolCall
from hookagent.providers.base import Delta
from hookagent.providers.call_ids import FreshIds
from hookagent.requests import Request
from hookagent.usage import Usage

STEP_KEYS = (
    "text", "calls", "thinking", "stop", "stop_detail", "usage", "expect", "error", "message", "status", "retry_after",
    "window",
)  # fmt: skip
CALL_KEYS = ("name", "arguments", "raw_arguments", "id")
USAGE_KEYS = ("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens", "cost_usd")
CHUNK_CHARACTERS = 24
"""How much text one delta of a scripted reply carries."""


class CallStep(NamedTuple):
    """A call of a step; `raw` is the argument text where the script gives it."""

    name: str
    arguments: FrozenDict | None
    raw: str | None
    problem: str | None
    id: str | None


class Step(NamedTuple):
    """A step of a script, read and ready; `place` says where it stands, for error texts."""

    place: str
    deltas: tuple[Delta, ...]
    text: str
    thinking: str
    calls: tuple[CallStep, ...]
    stop: StopReason
    stop_detail: str
    usage: Usage
    expect: str | None
    error: ProviderError | None

    def reply(self, request: Request, model: str, provider: str) -> AssistantMessage:
        """The message of this step, its calls with ids that the conversation does not have yet."""
        parts: list[Any] = []
        if self.thinking:
            parts.append(ProviderPart(provider, "thinking", FrozenDict({"thinking": self.thinking}), self.thinking))
        if self.text:
            parts.append(TextPart(self.text))
        calls = self.calls
        if calls:
            transcript = request.blocks.transcript
            fresh = FreshIds(transcript) if any(call.id for call in calls) else None
            length = len(transcript)
            for number, call in enumerate(calls, 1):
                # Counted, not random: a script gives the same transcript each time.
                counted = f"call_{length}_{number}"
                call_id = counted if fresh is None else fresh.give(call.id or counted)
                parts.append(ToolCall(call_id, call.name, call.arguments, call.raw, call.problem))
        return AssistantMessage(tuple(parts), self.stop, self.usage, model, provider, self.stop_detail)


def read_step(value: object, place: str) -> Step:
    """Read one step: a text, or a mapping with the keys of `STEP_KEYS`; `place` names it in errors.

    Raises `ConfigurationError` saying what is wrong and where.
    """
    if isinstance(value, str):
        value = {"text": value}
    if not isinstance(value, Mapping):
        raise ConfigurationError(f"{place}: a step is a text or a mapping, not {_kind(value)}")
    _known_keys(value, STEP_KEYS, place)
    text = _text(value, "text", place)
    thinking = _text(value, "thinking", place)
    raw_calls = value.get("calls") or ()
    if isinstance(raw_calls, str | Mapping) or not isinstance(raw_calls, Sequence):
        raise ConfigurationError(f"{place}: 'calls' is a list of calls, not {_kind(raw_calls)}")
    calls = tuple(_read_call(call, f"{place}, call {number}") for number, call in enumerate(raw_calls, 1))
    stop = value.get("stop") or ("tool_calls" if calls else "end")
    if not isinstance(stop, str) or stop not in STOP_REASONS:
        raise ConfigurationError(f"{place}: unknown stop reason {stop!r}{_nearest(str(stop), sorted(STOP_REASONS))}")
    expect = value.get("expect")
    if expect is not None and not isinstance(expect, str):
        raise ConfigurationError(f"{place}: 'expect' is a text, not {_kind(expect)}")
    return Step(
        place,
        tuple(_deltas(text, thinking, calls)),
        text,
        thinking,
        calls,
        cast(StopReason, stop),
        _text(value, "stop_detail", place),
        _read_usage(value.get("usage") or {}, place),
        expect,
        _read_error(value, place),
    )


def reply_step(message: AssistantMessage, place: str) -> Step:
    """A step from a message; its ids are kept unless the conversation has them already."""
    calls = tuple(CallStep(c.name, c.arguments, c.raw, c.problem, c.id) for c in message.tool_calls)
    thinking = "".join(part.text for part in message.parts if isinstance(part, ProviderPart))
    text, usage = message.text, message.usage
    deltas = tuple(_deltas(text, thinking, calls))
    return Step(place, deltas, text, thinking, calls, message.stop_reason, message.stop_detail, usage, None, None)


def _deltas(text: str, thinking: str, calls: tuple[CallStep, ...]) -> list[Delta]:
    deltas = [Delta("thinking", chunk) for chunk in _chunks(thinking)]
    deltas += [Delta("text", chunk) for chunk in _chunks(text)]
    for call in calls:
        raw = call.raw if call.raw is not None else json.dumps(call.arguments, ensure_ascii=False)
        deltas += [Delta("arguments", chunk) for chunk in _chunks(raw)]
    return deltas


def _chunks(text: str) -> list[str]:
    return [text[i : i + CHUNK_CHARACTERS] for i in range(0, len(text), CHUNK_CHARACTERS)]


def _read_call(value: object, place: str) -> CallStep:
    if not isinstance(value, Mapping):
        raise ConfigurationError(f"{place}: a call is a mapping with 'name' and 'arguments', not {_kind(value)}")
    _known_keys(value, CALL_KEYS, place)
    name = value.get("name")
    if not isinstance(name, str) or not name:
        raise ConfigurationError(f"{place}: a call needs a 'name'")
    call_id = value.get("id")
    if call_id is not None and not isinstance(call_id, str):
        raise ConfigurationError(f"{place}: 'id' is a text, not {_kind(call_id)}")
    if "raw_arguments" in value:
        from hookagent.tools.arguments import parse_arguments

        raw = value["raw_arguments"]
        if "arguments" in value or not (raw is None or isinstance(raw, str)):
            raise ConfigurationError(f"{place}: 'raw_arguments' is a text, and stands instead of 'arguments'")
        arguments, problem = parse_arguments(raw)
        return CallStep(name, arguments, raw if problem else None, problem, call_id)
    plain = value.get("arguments") or {}
    if not isinstance(plain, Mapping):
        raise ConfigurationError(
            f"{place}: 'arguments' is a mapping, not {_kind(plain)}; write broken ones as 'raw_arguments'"
        )
    try:
        frozen: FrozenDict = freeze(plain)
        json.dumps(frozen, allow_nan=False)
    except RecursionError:
        raise ConfigurationError(f"{place}: 'arguments' cannot be JSON: nested too deeply, or in themselves") from None
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"{place}: 'arguments' cannot be JSON: {error}") from None
    return CallStep(name, frozen, None, None, call_id)


def _read_usage(value: object, place: str) -> Usage:
    if not isinstance(value, Mapping):
        raise ConfigurationError(f"{place}: 'usage' is a mapping of token counts, not {_kind(value)}")
    _known_keys(value, USAGE_KEYS, f"{place}, usage")
    for key, count in value.items():
        if key == "cost_usd":
            if count is not None and not _is_amount(count):
                raise ConfigurationError(f"{place}, usage: '{key}' is a number from 0, not {count!r}")
        elif type(count) is not int or count < 0:
            raise ConfigurationError(f"{place}, usage: '{key}' is a whole number from 0, not {count!r}")
    return Usage(**value, requests=1)


def _read_error(value: Mapping[str, Any], place: str) -> ProviderError | None:
    kind = value.get("error")
    if kind is None:
        return None
    kinds = get_args(ProviderErrorKind)
    if kind not in kinds:
        raise ConfigurationError(f"{place}: unknown error kind {kind!r}{_nearest(str(kind), kinds)}")
    status, retry_after, window = value.get("status"), value.get("retry_after"), value.get("window")
    for key, count in (("status", status), ("window", window)):
        if count is not None and (type(count) is not int or count < 1):
            raise ConfigurationError(f"{place}: '{key}' is a whole number from 1, not {count!r}")
    if retry_after is not None and not _is_amount(retry_after):
        raise ConfigurationError(f"{place}: 'retry_after' is a number of seconds from 0, not {retry_after!r}")
    said = _text(value, "message", place) or f"{place}: the script says '{kind}'"
    return ProviderError(kind, "scripted", said, status=status, retry_after=retry_after, window=window)


def _is_amount(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf


def _text(value: Mapping[str, Any], key: str, place: str) -> str:
    text = value.get(key)
    if text is None:
        return ""
    if not isinstance(text, str):
        raise ConfigurationError(f"{place}: '{key}' is a text, not {_kind(text)}; put it in quotes")
    return text


def _known_keys(value: Mapping[Any, Any], known: Sequence[str], place: str) -> None:
    for key in value:
        if key not in known:
            raise ConfigurationError(f"{place}: unknown key '{key}'{_nearest(str(key), known)}")


def _nearest(word: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(word, known, 1)
    return f"; did you mean '{close[0]}'?" if close else f"; there are: {', '.join(known)}"


def _kind(value: object) -> str:
    return {dict: "a mapping", list: "a list", str: "a text", type(None): "nothing"}.get(type(value), repr(value))
