"""What a refusal means: a prompt that is too long, with the real window, or a setting that the model does not take."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_SETTING_OF = {
    "max_tokens": "max_output_tokens",
    "max_completion_tokens": "max_output_tokens",
    "max_output_tokens": "max_output_tokens",
    "temperature": "temperature",
    "reasoning.effort": "effort",
    "reasoning_effort": "effort",
    "reasoning": "effort",
    "output_config.effort": "effort",
    "effort": "effort",
    "stop": "stop",
    "stop_sequences": "stop",
    "seed": "seed",
}
"""The vendors' parameter names, and the setting of ours that each is sent for."""

_UNSUPPORTED = re.compile(
    r"unsupported|not supported|does not support|isn't supported|not permitted|not allowed|deprecated|unrecognized"
    r"|unknown (?:parameter|field|name)|extra inputs|extra_forbidden|unexpected (?:keyword|parameter)"
    r"|may only be set to",
    re.IGNORECASE,
)
_NUMBER = r"(\d[\d,_.]*\d|\d)"
_WINDOWS = (
    # used, window
    re.compile(rf"prompt is too long:?\s*{_NUMBER} tokens? > {_NUMBER}", re.I),
    re.compile(rf"request \({_NUMBER} tokens?\) exceeds the available context size \({_NUMBER}", re.I),
    re.compile(rf"context limit: {_NUMBER} \+ \d[\d,]* > {_NUMBER}", re.I),
    re.compile(rf"requested {_NUMBER} tokens?.{{0,80}}?(?:maximum|limit|window)\D{{0,40}}{_NUMBER}", re.I),
)
_WINDOW_FIRST = (
    # window, used
    re.compile(rf"(?:maximum context length|context (?:length|window|size)) (?:is|of) {_NUMBER}", re.I),
    re.compile(rf"maximum (?:prompt|input) (?:length|tokens?)\D{{0,20}}{_NUMBER}", re.I),
)
_TOO_LONG = re.compile(
    r"prompt is too long|context[ _]length|maximum context|context window|context limit|available context size"
    r"|input (?:is|length is) too (?:long|large)|too many (?:input )?tokens",
    re.IGNORECASE,
)


def find_window(message: str, detail: Mapping[str, Any]) -> int | None:
    """The window in tokens that a "too long" refusal names; 0 where it is one and names none, None where it is none."""
    size = detail.get("n_ctx")
    if isinstance(size, int) and size > 0:
        return size
    for pattern in _WINDOWS:
        found = pattern.search(message)
        if found:
            return _tokens(found[2])
    if not _TOO_LONG.search(message) and detail.get("code") != "context_length_exceeded":
        return None
    for pattern in _WINDOW_FIRST:
        found = pattern.search(message)
        if found:
            return _tokens(found[1])
    return 0


def find_unsupported(message: str, detail: Mapping[str, Any]) -> str | None:
    """Our name for the parameter that a refusal calls unsupported, or None where it says something else."""
    code = str(detail.get("code") or "")
    if code not in ("unsupported_parameter", "unsupported_value", "unknown_parameter") and not _UNSUPPORTED.search(
        message
    ):
        return None
    parameter = detail.get("param")
    if isinstance(parameter, str) and parameter in _SETTING_OF:
        return _SETTING_OF[parameter]
    # The name in quotes, or at the beginning with a colon ("seed: Extra inputs are not permitted").
    for found in re.finditer(r"[`'\"]([A-Za-z_.]+)[`'\"]|^([A-Za-z_.]+):|parameter:? ([A-Za-z_.]+)", message):
        name = found[1] or found[2] or found[3]
        if name in _SETTING_OF:
            return _SETTING_OF[name]
    return None


def refused_parameter(message: str) -> str | None:
    """The vendor's name of a parameter that a message calls unsupported ("max_tokens", "stream_options"), or None."""
    if not _UNSUPPORTED.search(message):
        return None
    found = re.search(r"\b(max_tokens|max_completion_tokens|stream_options|prompt_cache_key|include_usage)\b", message)
    return found[1] if found else None


def _tokens(text: str) -> int:
    return int(re.sub(r"\D", "", text))
