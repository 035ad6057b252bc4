"""hookagent: a small, dependable loop for LLM agents; everything else is a plugin.

What is public is listed here. Each name is imported when first used, so that `import hookagent` costs
next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookagent.abort import Aborted as Aborted
    from hookagent.abort import AbortedError as AbortedError
    from hookagent.abort import AbortSignal as AbortSignal
    from hookagent.agent import Agent as Agent
    from hookagent.completion import complete as complete
    from hookagent.completion import complete_sync as complete_sync
    from hookagent.completion import complete_with_usage as complete_with_usage
    from hookagent.errors import ConfigurationError as ConfigurationError
    from hookagent.errors import HookagentError as HookagentError
    from hookagent.errors import MessageOrderError as MessageOrderError
    from hookagent.errors import MisuseError as MisuseError
    from hookagent.errors import PluginError as PluginError
    from hookagent.errors import PluginLoadError as PluginLoadError
    from hookagent.errors import ProviderError as ProviderError
    from hookagent.errors import RequestRefusedError as RequestRefusedError
    from hookagent.errors import RunError as RunError
    from hookagent.errors import ToolDefinitionError as ToolDefinitionError
    from hookagent.escaping import visible_text as visible_text
    from hookagent.events import AgentEnd as AgentEnd
    from hookagent.events import AgentStart as AgentStart
    from hookagent.events import Compaction as Compaction
    from hookagent.events import ErrorEvent as ErrorEvent
    from hookagent.events import Event as Event
    from hookagent.events import HookReport as HookReport
    from hookagent.events import IterationStart as IterationStart
    from hookagent.events import MessageDelta as MessageDelta
    from hookagent.events import MessageEnd as MessageEnd
    from hookagent.events import MessageReplaced as MessageReplaced
    from hookagent.events import MessageStart as MessageStart
    from hookagent.events import RequestSent as RequestSent
    from hookagent.events import ResolveEnd as ResolveEnd
    from hookagent.events import ResolveStart as ResolveStart
    from hookagent.events import ResponseReceived as ResponseReceived
    from hookagent.events import Retry as Retry
    from hookagent.events import ToolEnd as ToolEnd
    from hookagent.events import ToolProgress as ToolProgress
    from hookagent.events import ToolStart as ToolStart
    from hookagent.events import TurnEnd as TurnEnd
    from hookagent.events import TurnStart as TurnStart
    from hookagent.frozen import freeze as freeze
    from hookagent.frozen import thaw as thaw
    from hookagent.host import PluginEntry as PluginEntry
    from hookagent.interrupts import pass_interrupt as pass_interrupt
    from hookagent.interrupts import take_interrupts as take_interrupts
    from hookagent.limits import Limits as Limits
    from hookagent.markers import hookimpl as hookimpl
    from hookagent.masking import Masker as Masker
    from hookagent.messages import AssistantMessage as AssistantMessage
    from hookagent.messages import Image as Image
    from hookagent.messages import ProviderPart as ProviderPart
    from hookagent.messages import TextPart as TextPart
    from hookagent.messages import ToolCall as ToolCall
    from hookagent.messages import ToolResult as ToolResult
    from hookagent.messages import UserMessage as UserMessage
    from hookagent.nested_event import Nested as Nested
    from hookagent.pending import PendingCall as PendingCall
    from hookagent.providers.base import Delta as Delta
    from hookagent.providers.base import Provider as Provider
    from hookagent.requests import BlockView as BlockView
    from hookagent.requests import Note as Note
    from hookagent.requests import Request as Request
    from hookagent.result import Outcome as Outcome
    from hookagent.result import RunResult as RunResult
    from hookagent.session import Session as Session
    from hookagent.terminal import TerminalOwner as TerminalOwner
    from hookagent.terminal import own_terminal as own_terminal
    from hookagent.terminal import terminal_owner as terminal_owner
    from hookagent.tools.context import ToolContext as ToolContext
    from hookagent.tools.context import current_call as current_call
    from hookagent.tools.tool import Tool as Tool
    from hookagent.tools.tool import tool as tool
    from hookagent.transcript import ToolRound as ToolRound
    from hookagent.transcript import Transcript as Transcript
    from hookagent.usage import Usage as Usage
    from hookagent.verdicts import Amend as Amend
    from hookagent.verdicts import Approve as Approve
    from hookagent.verdicts import Deny as Deny
    from hookagent.verdicts import Replace as Replace
    from hookagent.verdicts import Stop as Stop
    from hookagent.verdicts import Suspend as Suspend

__version__ = "0.1.0"

_WHERE = {
    "abort": ["AbortSignal", "Aborted", "AbortedError"],
    "agent": ["Agent"],
    "completion": ["complete", "complete_sync", "complete_with_usage"],
    "errors": [
        "ConfigurationError",
        "HookagentError",
        "MessageOrderError",
        "MisuseError",
        "PluginError",
        "PluginLoadError",
        "ProviderError",
        "RequestRefusedError",
        "RunError",
        "ToolDefinitionError",
    ],
    "escaping": ["visible_text"],
    "events": [
        "AgentEnd",
        "AgentStart",
        "Compaction",
        "ErrorEvent",
        "Event",
        "HookReport",
        "IterationStart",
        "MessageDelta",
        "MessageEnd",
        "MessageReplaced",
        "MessageStart",
        "RequestSent",
        "ResponseReceived",
        "ResolveEnd",
        "ResolveStart",
        "Retry",
        "ToolEnd",
        "ToolProgress",
        "ToolStart",
        "TurnEnd",
        "TurnStart",
    ],
    "frozen": ["freeze", "thaw"],
    "host": ["PluginEntry"],
    "interrupts": ["pass_interrupt", "take_interrupts"],
    "limits": ["Limits"],
    "markers": ["hookimpl"],
    "masking": ["Masker"],
    "messages": ["AssistantMessage", "Image", "ProviderPart", "TextPart", "ToolCall", "ToolResult", "UserMessage"],
    "nested_event": ["Nested"],
    "pending": ["PendingCall"],
    "providers.base": ["Delta", "Provider"],
    "requests": ["BlockView", "Note", "Request"],
    "result": ["Outcome", "RunResult"],
    "session": ["Session"],
    "terminal": ["TerminalOwner", "own_terminal", "terminal_owner"],
    "tools.context": ["ToolContext", "current_call"],
    "tools.tool": ["Tool", "tool"],
    "transcript": ["ToolRound", "Transcript"],
    "usage": ["Usage"],
    "verdicts": ["Amend", "Approve", "Deny", "Replace", "Stop", "Suspend"],
}
_MODULE_OF = {name: module for module, names in _WHERE.items() for name in names}

__all__ = sorted(_MODULE_OF)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'hookagent' has no attribute '{name}'")
    value = getattr(importlib.import_module(f"hookagent.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
