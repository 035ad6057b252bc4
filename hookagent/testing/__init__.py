"""The public test kit: what hookagent's own tests and the tests of plugin authors use.

Each name is imported from its module when it is first asked for, so that a test pays only for what it uses.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from hookagent.providers import ScriptedProvider as ScriptedProvider
    from hookagent.testing.clock import FakeClock as FakeClock
    from hookagent.testing.plugin_check import PluginReport as PluginReport
    from hookagent.testing.plugin_check import check_plugin as check_plugin
    from hookagent.testing.plugin_check import check_provider as check_provider
    from hookagent.testing.recorder import Recorder as Recorder
    from hookagent.testing.server import Call as Call
    from hookagent.testing.server import Fault as Fault
    from hookagent.testing.server import NoId as NoId
    from hookagent.testing.server import RecordedRequest as RecordedRequest
    from hookagent.testing.server import RefusedRequest as RefusedRequest
    from hookagent.testing.server import Reply as Reply
    from hookagent.testing.server import ServerCall as ServerCall
    from hookagent.testing.server import StrictServer as StrictServer
    from hookagent.testing.server import Thinking as Thinking
    from hookagent.testing.server import Usage as Usage
    from hookagent.testing.wire import RULES as RULES
    from hookagent.testing.wire import WireError as WireError
    from hookagent.testing.wire import check_chat_request as check_chat_request
    from hookagent.testing.wire import check_messages_request as check_messages_request
    from hookagent.testing.wire import check_request as check_request
    from hookagent.testing.wire import check_responses_request as check_responses_request

_HOMES: Final = {
    "hookagent.providers": "ScriptedProvider",
    "hookagent.testing.clock": "FakeClock",
    "hookagent.testing.plugin_check": "PluginReport check_plugin check_provider",
    "hookagent.testing.recorder": "Recorder",
    "hookagent.testing.server": (
        "Call Fault NoId RecordedRequest RefusedRequest Reply ServerCall StrictServer Thinking Usage"
    ),
    "hookagent.testing.wire": (
        "RULES WireError check_chat_request check_messages_request check_request check_responses_request"
    ),
}
_MODULE_OF: Final = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF})
