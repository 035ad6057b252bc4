"""Providers: from a Request to a streamed reply. One package or file per wire form; SDKs are imported when used.

Each name is imported from its module when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from hookagent.providers.anthropic_messages.provider import AnthropicProvider as AnthropicProvider
    from hookagent.providers.base import Delta as Delta
    from hookagent.providers.base import Provider as Provider
    from hookagent.providers.base import Retrying as Retrying
    from hookagent.providers.openai_chat.provider import OpenAIChatProvider as OpenAIChatProvider
    from hookagent.providers.openai_responses.provider import OpenAIResponsesProvider as OpenAIResponsesProvider
    from hookagent.providers.retry import RetryPolicy as RetryPolicy
    from hookagent.providers.retry import ask_with_retries as ask_with_retries
    from hookagent.providers.routing import default_model as default_model
    from hookagent.providers.routing import provider_for as provider_for
    from hookagent.providers.scripted import ScriptedProvider as ScriptedProvider

_MODULE_OF: Final = {
    "AnthropicProvider": "anthropic_messages.provider",
    "Delta": "base",
    "OpenAIChatProvider": "openai_chat.provider",
    "OpenAIResponsesProvider": "openai_responses.provider",
    "Provider": "base",
    "RetryPolicy": "retry",
    "Retrying": "base",
    "ScriptedProvider": "scripted",
    "default_model": "routing",
    "provider_for": "routing",
    "ask_with_retries": "retry",
}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF})
