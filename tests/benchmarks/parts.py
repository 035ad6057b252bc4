"""What both sides are made of: tools, a model that answers at once, plugins that do nothing, and the floor."""

from __future__ import annotations

import asyncio
import inspect
import json
import typing
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Any

from hookagent import Agent, hookimpl
from hookagent.contract import CONTRACTS
from hookagent.messages import AssistantMessage, TextPart, ToolCall
from hookagent.providers.base import Delta
from hookagent.requests import Request
from hookagent.tools.arguments import parse_arguments
from hookagent.usage import Usage

ARGUMENTS = json.dumps({"text": "hello", "n": 3})
ANSWER = "all done"
_USED = Usage(10, 0, 0, 5, None, 1)
_JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


async def echo(text: str, n: int) -> str:
    """Answer at once.

    Args:
        text: a text
        n: a number
    """
    return "ok"


def plain_echo(text: str, n: int) -> str:
    """Answer at once, from a thread.

    Args:
        text: a text
        n: a number
    """
    return "ok"


class AnsweringModel:
    """Asks for `calls` calls in each of `rounds` rounds, then answers. It reads the arguments as a provider does."""

    name, model, notice = "bench", "model", ""
    wire: str | None = None
    context_window: int | None = None

    def __init__(self, rounds: int, tool: str = "echo", calls: int = 1, latency: float = 0.0) -> None:
        self._rounds, self._tool, self._calls, self._latency = rounds, tool, calls, latency
        self._asked = 0

    async def stream(self, request: Request) -> AsyncIterator[Delta | AssistantMessage]:
        """See `Provider.stream`."""
        number = self._asked
        self._asked = number + 1
        if self._latency:
            await asyncio.sleep(self._latency)
        if number >= self._rounds:
            yield AssistantMessage((TextPart(ANSWER),), "end", _USED, self.model, self.name)
            return
        parts = []
        for call in range(self._calls):
            arguments, problem = parse_arguments(ARGUMENTS)
            parts.append(ToolCall(f"call_{number}_{call}", self._tool, arguments, None, problem))
        yield AssistantMessage(tuple(parts), "tool_calls", _USED, self.model, self.name)


def agent(model: Any, tools: Iterable[Any] = (echo, plain_echo), **options: Any) -> Agent:
    """An agent without limits, console and files."""
    options = {"log": False, "quiet": True, "limits": {"max_iterations": None}, **options}
    return Agent("bench", tools=tools, model=model, **options)


async def answered(made: Agent) -> None:
    """Run an agent and make sure that it came to its answer."""
    result = await made.run("go")
    if result.answer != ANSWER:
        raise RuntimeError(f"the agent answered {result.answer!r}, status {result.status}: {result.reason}")


_SOURCE = """
async def wrap_model_call(self, request, call_next):
    return await call_next(request)
async def wrap_tool_call(self, tool_call, call_next):
    return await call_next()
"""


def plugins(count: int, *, around: bool = True) -> list[Any]:
    """`count` plugins that implement every hook and do nothing in it; without `around`, every plain one."""
    from hookagent import hookspecs

    made: dict[str, Any] = {}
    exec(_SOURCE, made)
    hooks: dict[str, Any] = {}
    for hook, contract in CONTRACTS.items():
        if "around" in contract.kinds:
            if around:
                hooks[hook] = hookimpl(made[hook])
            continue
        names = [
            one for one in inspect.signature(getattr(hookspecs, hook)).parameters if one not in ("agent", "session")
        ]
        space: dict[str, Any] = {}
        exec(f"def {hook}(self, {', '.join(names)}): pass", space)
        hooks[hook] = hookimpl(space[hook])
    return [type(f"Idle{number}", (), dict(hooks))() for number in range(count)]


# ---- the floor: nothing but what the task itself needs ----


def schema(function: Callable[..., Any]) -> dict[str, Any]:
    """A tool's description as a loop of one's own would make it."""
    hints = typing.get_type_hints(function)
    properties, required = {}, []
    for name, parameter in inspect.signature(function).parameters.items():
        kind = hints.get(name, str)
        properties[name] = {"type": _JSON_TYPES.get(typing.get_origin(kind) or kind, "object")}
        if parameter.default is parameter.empty:
            required.append(name)
    parameters = {"type": "object", "properties": properties, "required": required}
    text = (function.__doc__ or "").strip()
    return {"type": "function", "function": {"name": function.__name__, "description": text, "parameters": parameters}}


class FloorModel:
    """The same answers as plain dicts."""

    def __init__(self, rounds: int, tool: str = "echo", calls: int = 1, latency: float = 0.0) -> None:
        self._rounds, self._tool, self._calls, self._latency = rounds, tool, calls, latency
        self._asked = 0

    async def __call__(self, messages: Sequence[Any], schemas: Sequence[Any]) -> dict[str, Any]:
        number = self._asked
        self._asked = number + 1
        if self._latency:
            await asyncio.sleep(self._latency)
        if number >= self._rounds:
            return {"role": "assistant", "content": ANSWER}
        function = {"name": self._tool, "arguments": f"{ARGUMENTS} "}  # a text of its own, as one that was received
        calls = [{"id": f"call_{number}_{n}", "type": "function", "function": function} for n in range(self._calls)]
        return {"role": "assistant", "content": None, "tool_calls": calls}


class FloorLoop:
    """A hand-written loop over dicts: no hooks, no checks, no events, no retries."""

    def __init__(self, tools: Iterable[Callable[..., Any]], model: Any) -> None:
        self._tools = {function.__name__: (function, inspect.iscoroutinefunction(function)) for function in tools}
        self._schemas = [schema(function) for function, _ in self._tools.values()]
        self._model = model
        self.messages: list[dict[str, Any]] = []

    async def run(self, prompt: str) -> str:
        """Work until the model answers."""
        messages, model, schemas = self.messages, self._model, self._schemas
        messages.append({"role": "user", "content": prompt})
        while True:
            reply = await model(messages, schemas)
            messages.append(reply)
            calls = reply.get("tool_calls")
            if not calls:
                return str(reply["content"])
            if len(calls) == 1:
                messages.append(await self._call(calls[0]))
            else:
                messages.extend(await asyncio.gather(*(self._call(call) for call in calls)))

    async def _call(self, call: dict[str, Any]) -> dict[str, Any]:
        asked = call["function"]
        function, is_async = self._tools[asked["name"]]
        try:
            arguments = json.loads(asked["arguments"])
            out = await function(**arguments) if is_async else function(**arguments)
        except Exception as error:
            out = f"error: {error}"
        text = out if type(out) is str else json.dumps(out)
        return {"role": "tool", "tool_call_id": call["id"], "content": text}
