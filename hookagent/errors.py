"""The exceptions of hookagent, one tree.

    HookagentError
    ├── ConfigurationError      what the user wrote cannot be used (command: exit 2)
    │   ├── PluginLoadError     a plugin that was asked for cannot be loaded
    │   └── ToolDefinitionError a function cannot be a tool
    ├── MisuseError             the Python API was called at the wrong time or place
    ├── PluginError             a plugin failed in a run
    │   └── MessageOrderError   a plugin returned a message where none can stand
    ├── RequestRefusedError     our own last check refused a request before it was sent
    ├── ProviderError           the model's side failed
    └── RunError                what `RunResult.raise_for_status()` raises

`Agent.run` raises only `ConfigurationError`, `MisuseError`, `PluginError`, `KeyboardInterrupt` and the
caller's own cancellation; everything else is a status of the result (design, "Raising").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from hookagent.result import RunResult
    from hookagent.usage import Usage

ProviderErrorKind = Literal[
    "authentication",
    "configuration",
    "connection",
    "filtered",
    "incomplete",
    "invalid_request",
    "not_found",
    "overloaded",
    "quota",
    "rate_limit",
    "response",
    "server",
    "timeout",
    "too_long",
    "unsupported_setting",
]
RETRYABLE_KINDS: frozenset[str] = frozenset(
    {"connection", "incomplete", "overloaded", "rate_limit", "server", "timeout"}
)


_LONGEST_ERROR = 2000


class HookagentError(Exception):
    """Base of every error that hookagent raises itself."""


class ConfigurationError(HookagentError):
    """What the user asked for cannot be used; the text says where and what to do."""


class PluginLoadError(ConfigurationError):
    """A plugin cannot be loaded.

    Attributes: `plugin` is the name it was asked for by, `distribution` its "name version" where known.
    """

    def __init__(self, plugin: str, distribution: str | None, reason: str) -> None:
        self.plugin = plugin
        self.distribution = distribution
        self.reason = reason
        owner = f"plugin '{plugin}' ({distribution})" if distribution else f"plugin '{plugin}'"
        super().__init__(f"{owner}: {reason}")


class ToolDefinitionError(ConfigurationError):
    """A function cannot be made into a tool; the text names it, its file and line, and the remedy."""


class MisuseError(HookagentError):
    """The API was called at the wrong time or from the wrong place; the text says what to call instead."""


class PluginError(HookagentError):
    """A plugin failed in a run, which stops it (design, "Hooks": kinds and their failure rules).

    Attributes: `plugin` (name), `distribution` ("name version" or None), `hook` (name), and the original
    exception, if there is one, as `__cause__`.
    """

    def __init__(self, plugin: str, distribution: str | None, hook: str, what: str) -> None:
        self.plugin = plugin
        self.distribution = distribution
        self.hook = hook
        self.what = what
        owner = f"plugin '{plugin}' ({distribution})" if distribution else f"plugin '{plugin}'"
        super().__init__(f"{owner}: hook '{hook}' {what}")


class MessageOrderError(PluginError):
    """A plugin returned a message while tool calls wait for their results.

    Nothing may stand between a call and its result (design, "The ordering rule"), and no setting softens
    this. `open_calls` are the calls, as "name (id)".
    """

    def __init__(self, plugin: str, distribution: str | None, hook: str, open_calls: Sequence[str]) -> None:
        self.open_calls = tuple(open_calls)
        calls = ", ".join(self.open_calls) or "none"
        super().__init__(
            plugin,
            distribution,
            hook,
            f"returned a message, which cannot stand there; open calls: {calls}. "
            "return it from 'after_tools', or queue it with agent.steer(...)",
        )


class RequestRefusedError(HookagentError):
    """Our own checker refused a request before it was sent.

    `rule` is the id of the broken rule, `shaped_by` the last plugin that shaped the request, if any; `reason` says what
    is wrong without naming either side.
    """

    def __init__(self, rule: str, message: str, shaped_by: str | None = None) -> None:
        self.rule = rule
        self.shaped_by = shaped_by
        self.reason = f"{message} (rule '{rule}')"
        owner = f"plugin '{shaped_by}' shaped a request that cannot be sent: " if shaped_by else "request refused: "
        super().__init__(f"{owner}{self.reason}")


class ProviderError(HookagentError):
    """The model's side failed.

    Attributes: `kind` (a closed list, see `ProviderErrorKind`), `provider` (prefix), `status` (HTTP status
    or None), `retry_after` (seconds the server asked for, or None), `window` (tokens, when the server
    named its real window), `usage` (what a reply that could not be used has cost all the same, or None).
    """

    def __init__(
        self,
        kind: ProviderErrorKind,
        provider: str,
        message: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        window: int | None = None,
        usage: Usage | None = None,
    ) -> None:
        self.kind: ProviderErrorKind = kind
        self.provider = provider
        self.status = status
        self.retry_after = retry_after
        self.window = window
        self.usage = usage
        super().__init__(f"{provider}: {message}")

    @property
    def retryable(self) -> bool:
        """Whether the same request may succeed when sent again."""
        return self.kind in RETRYABLE_KINDS


class RunError(HookagentError):
    """A run that did not complete; raised only by `RunResult.raise_for_status`. `result` is that result."""

    def __init__(self, result: RunResult) -> None:
        self.result = result
        super().__init__(f"run {result.status}: {result.reason or result.answer}")


def error_text(error: BaseException) -> str:
    """The text of a foreign exception, whatever its `__str__` does; empty where it has none."""
    try:
        return str(error).strip()
    except Exception as broken:
        return f"its text form raised {type(broken).__name__}"


def describe_error(error: BaseException) -> str:
    """A foreign exception in words: its type, and its text where it has one, whatever its `__str__` does."""
    text = error_text(error)
    if len(text) > _LONGEST_ERROR:
        text = f"{text[:_LONGEST_ERROR]}…"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def describe_os_error(error: OSError) -> str:
    """What the system refused, in lower case, behind the file that it is about."""
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{(error.strerror or str(error)).lower()}"
