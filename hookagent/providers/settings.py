"""`model_settings`: one vocabulary for all vendors, and what each of them and its models take.

What cannot be taken is an error that names the setting, before anything is sent; a setting of the user is never
dropped silently. Where only the server can know, its refusal is put into our words (`failures`).
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from hookagent.errors import ProviderError
from hookagent.frozen import thaw

COMMON = ("max_output_tokens", "temperature", "effort", "stop", "seed")
"""The common vocabulary; a vendor's own settings stand in a mapping under its name."""
VENDORS = ("anthropic", "openai", "openai-chat", "scripted", "local")
"""Keys under which extras of one vendor stand; those of another vendor are left alone."""
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


_OURS = frozenset({"model", "messages", "input", "system", "instructions", "stream"})


class ModelSettings(NamedTuple):
    """The settings of one request, read and checked; `extras` go into the body's top level as they are."""

    max_output_tokens: int | None = None
    temperature: float | None = None
    effort: str | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None
    extras: Mapping[str, Any] = {}


def read_settings(settings: Mapping[str, Any], provider: str) -> ModelSettings:
    """Read `model_settings` for one provider (by its prefix).

    `max_output_tokens` is a number of tokens from 1, `temperature` a number from 0, `effort` one of `EFFORTS`,
    `stop` a text or a list of texts, `seed` an integer; a vendor's name holds a mapping of its own extras.

    Raises `ProviderError` (`unsupported_setting`) for an unknown name and a value that cannot be.
    """
    if not settings:
        return _NONE
    values: dict[str, Any] = {}
    for name, value in settings.items():
        if name in COMMON:
            if value is not None:
                values[name] = _checked(name, value, provider)
        elif name == provider or name in VENDORS:
            if not isinstance(value, Mapping):
                raise _refused(provider, name, "holds a mapping of that vendor's own settings")
            if name == provider:
                values["extras"] = value
        else:
            close = difflib.get_close_matches(name, (*COMMON, *VENDORS), 1)
            hint = f"did you mean '{close[0]}'?" if close else f"there are: {', '.join(COMMON)}"
            raise _refused(
                provider, name, f"is not known; {hint} (a vendor's own stand in a mapping under the vendor's name)"
            )
    return ModelSettings(**values)


def refuse_setting(provider: str, name: str, model: str, why: str) -> ProviderError:
    """The error for a setting that a model does not take; `why` ends the sentence and says what to do."""
    return _refused(provider, name, f"is not taken by '{model}': {why}")


def add_extras(body: dict[str, Any], extras: Mapping[str, Any], provider: str) -> None:
    """Put a vendor's own settings into the body's top level: objects and lists are joined, all else replaced.

    `extra_headers` is kept under its name, for the caller to take out. Raises `ProviderError`
    (`unsupported_setting`) for what is the conversation itself.
    """
    for name, value in extras.items():
        if name in _OURS:
            raise _refused(provider, f"{provider}.{name}", "is not a setting: the conversation is built by the loop")
        given, plain = body.get(name), thaw(value)
        if isinstance(given, dict) and isinstance(plain, dict):
            body[name] = {**given, **plain}
        elif isinstance(given, list) and isinstance(plain, list):
            body[name] = [*given, *plain]
        else:
            body[name] = plain


def claude_takes_temperature(model: str) -> bool:
    """Whether a Claude model has sampling settings: those after Opus 4.6 and Sonnet 4.6 refuse them."""
    return not _version_of(model) > (4, 6)


def claude_takes_effort(model: str) -> bool:
    """Whether a Claude model has `effort`: Opus from 4.5 on, the others from 4.6 on."""
    return _version_of(model) >= ((4, 5) if "opus" in model else (4, 6))


def is_openai_reasoning(model: str) -> bool:
    """Whether a model of OpenAI thinks before it answers: the o series, and GPT-5 but for its chat variants."""
    return bool(re.match(r"(o\d|gpt-5(?!.*-chat))", model))


def is_openai_model(model: str) -> bool:
    """Whether the name is one of OpenAI's own, which take `max_completion_tokens` on the Chat wire."""
    return bool(re.match(r"(ft:)?(o\d|gpt-|chatgpt-)", model))


_NONE = ModelSettings()


def _refused(provider: str, name: str, what: str) -> ProviderError:
    return ProviderError("unsupported_setting", provider, f"model setting '{name}' {what}")


def _checked(name: str, value: Any, provider: str) -> Any:
    # A float that is no finite number has no whole part to be compared with.
    number = type(value) is int or (type(value) is float and math.isfinite(value))
    if name == "max_output_tokens" and not (number and value == int(value) and value >= 1):
        raise _refused(provider, name, f"is a number of tokens from 1, not {value!r}")
    if name == "temperature" and not (number and value >= 0):
        raise _refused(provider, name, f"is a number from 0, not {value!r}")
    if name == "seed" and not (number and isinstance(value, int)):
        raise _refused(provider, name, f"is a whole number, not {value!r}")
    if name == "effort" and value not in EFFORTS:
        raise _refused(provider, name, f"is one of {', '.join(EFFORTS)}, not {value!r}")
    if name == "stop":
        texts = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list | tuple) else (None,)
        if not all(isinstance(text, str) and text for text in texts):
            raise _refused(provider, name, f"is a text or a list of texts, none empty, not {value!r}")
        return texts
    return int(value) if name == "max_output_tokens" else value


def _version_of(model: str) -> tuple[int, int]:
    """Major and minor version out of "claude-opus-4-8", "claude-3-7-sonnet-20250219", "claude-sonnet-5"."""
    numbers = [int(part) for part in re.findall(r"(?<![\d])\d{1,2}(?![\d])", model)]
    if not numbers:
        # A name without a number is newer than every numbered one that we know, or an alias; the server decides.
        return (0, 0) if "claude" not in model else (4, 6)
    return numbers[0], numbers[1] if len(numbers) > 1 else 0
