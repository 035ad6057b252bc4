"""A plugin that implements every hook, writes down each call, and returns what a test wants it to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hookagent import hookimpl


class Recorder:
    """Records every hook call in `calls`, as (hook, arguments by name), in order.

    `returns` maps a hook's name to what it returns: a value, or a function of the hook's arguments (as one
    mapping). `on_event` is recorded in `events`. `names` are the hooks called, without `on_event`.
    """

    def __init__(self, returns: Mapping[str, Any] | None = None, name: str = "recorder") -> None:
        self.name = name
        self.returns = dict(returns or {})
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.events: list[Any] = []
        self.agent: Any = None

    @property
    def names(self) -> list[str]:
        """The hooks called so far, in order."""
        return [hook for hook, _ in self.calls]

    def _answer(self, hook: str, **arguments: Any) -> Any:
        self.calls.append((hook, arguments))
        value = self.returns.get(hook)
        return value(arguments) if callable(value) else value

    @hookimpl
    def register_tools(self, register: Callable[..., Any]) -> None:
        """Record the hook."""
        value = self._answer("register_tools", register=register)
        if value is not None:
            register(value)

    @hookimpl
    def on_session_start(self, agent: Any, session: Any) -> Any:
        """Record the hook, and keep the agent, so that its session does not end before the test does."""
        self.agent = agent
        return self._answer("on_session_start", session=session)

    @hookimpl
    def on_session_end(self, session: Any) -> Any:
        """Record the hook."""
        return self._answer("on_session_end", session=session)

    @hookimpl
    def after_user_input(self, message: Any) -> Any:
        """Record the hook."""
        return self._answer("after_user_input", message=message)

    @hookimpl
    def before_llm(self, iteration: int) -> Any:
        """Record the hook."""
        return self._answer("before_llm", iteration=iteration)

    @hookimpl
    def shape_request(self, request: Any) -> Any:
        """Record the hook."""
        return self._answer("shape_request", request=request)

    @hookimpl
    async def wrap_model_call(self, request: Any, call_next: Any) -> Any:
        """Record the hook and call on."""
        self._answer("wrap_model_call", request=request)
        return await call_next(request)

    @hookimpl
    def after_llm(self, request: Any, response: Any) -> Any:
        """Record the hook."""
        return self._answer("after_llm", request=request, response=response)

    @hookimpl
    def before_tools(self, tool_calls: Any) -> Any:
        """Record the hook."""
        return self._answer("before_tools", tool_calls=tool_calls)

    @hookimpl
    def before_each_tool(self, tool_call: Any) -> Any:
        """Record the hook."""
        return self._answer("before_each_tool", tool_call=tool_call)

    @hookimpl
    def resolve_suspended(self, pending: Any) -> Any:
        """Record the hook."""
        return self._answer("resolve_suspended", pending=pending)

    @hookimpl
    async def wrap_tool_call(self, tool_call: Any, call_next: Any) -> Any:
        """Record the hook and call on."""
        self._answer("wrap_tool_call", tool_call=tool_call)
        return await call_next()

    @hookimpl
    def after_each_tool(self, tool_call: Any, result: Any) -> Any:
        """Record the hook."""
        return self._answer("after_each_tool", tool_call=tool_call, result=result)

    @hookimpl
    def on_error(self, error: Any, tool_call: Any) -> Any:
        """Record the hook."""
        return self._answer("on_error", error=error, tool_call=tool_call)

    @hookimpl
    def after_tools(self, tool_round: Any) -> Any:
        """Record the hook."""
        return self._answer("after_tools", tool_round=tool_round)

    @hookimpl
    def before_complete(self, answer: str) -> Any:
        """Record the hook."""
        return self._answer("before_complete", answer=answer)

    @hookimpl
    def on_complete(self, outcome: Any) -> Any:
        """Record the hook."""
        return self._answer("on_complete", outcome=outcome)

    @hookimpl
    def on_event(self, event: Any) -> None:
        """Record the event."""
        self.events.append(event)
