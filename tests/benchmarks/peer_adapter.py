"""hookagent as a row of a harness that measures several projects side by side.

To use it, copy this file beside the harness's `common.py` (or name it as the adapter), in an interpreter that has
hookagent installed:

    python common.py --adapter peer_adapter --variant quiet --workload W4

Variants: `quiet` keeps nothing and says nothing; `four_plugins` adds four plugins that implement every hook and do
nothing in it; `default` is what a user gets with no settings, the session on disk included. The model is a provider
like any other: the same request, checks, hooks, validation and tool dispatch run as with a real one, and it reads
the arguments from their JSON text.
"""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Callable
from typing import Any

READY = True
NAME = "hookagent"
IMPORTS = "import hookagent"
VARIANTS = ["quiet", "four_plugins", "default"]
MODES = {"sync", "async"}
ASYNC_TOOLS = True
ASYNC_TOOL_IN_SYNC = True
CLI = {"--version": ["hookagent", "--version"], "--help": ["hookagent", "--help"]}
WIRE_MODE = "sync"
NOTES = "hook contract, argument checks, events, trace and the last request check are always on"

_PLUGIN_SOURCE = """
async def wrap_model_call(self, request, call_next):
    return await call_next(request)
async def wrap_tool_call(self, tool_call, call_next):
    return await call_next()
def on_session_start(self): pass
def on_session_end(self): pass
def after_user_input(self, message): pass
def before_llm(self, iteration): pass
def shape_request(self, request): pass
def after_llm(self, request, response): pass
def before_tools(self, tool_calls): pass
def before_each_tool(self, tool_call): pass
def resolve_suspended(self, pending): pass
def after_each_tool(self, tool_call, result): pass
def on_error(self, error, tool_call): pass
def after_tools(self, tool_round): pass
def before_complete(self, answer): pass
def on_complete(self, outcome): pass
def on_event(self, event): pass
"""

_made: dict[str, Any] = {}


def setup(variant: str) -> None:
    """Import what the rows use, and make the plugins of `four_plugins`."""
    for name in ("hookagent", "hookagent.messages", "hookagent.usage", "hookagent.tools.arguments"):
        _made[name.rpartition(".")[2]] = importlib.import_module(name)
    hookagent: Any = _made["hookagent"]
    _made["Agent"] = hookagent.Agent
    _made["used"] = _made["usage"].Usage(10, 0, 0, 5, None, 1)
    hooks: dict[str, Any] = {}
    exec(_PLUGIN_SOURCE, hooks)
    marked = {name: hookagent.hookimpl(hook) for name, hook in hooks.items() if not name.startswith("__")}
    count = 4 if variant == "four_plugins" else 0
    _made["plugins"] = [type(f"Idle{number}", (), dict(marked))() for number in range(count)]


def wrap_tool(function: Callable[..., Any]) -> Callable[..., Any]:
    """A plain typed function is a tool as it is."""
    return function


class _Model:
    name, model, notice = "bench", "model", ""
    wire = None
    context_window = None

    def __init__(self, script: Any) -> None:
        self._script = script

    async def stream(self, request: Any) -> AsyncIterator[Any]:
        """Answer as the script says."""
        script, messages = self._script, _made["messages"]
        if script.latency:
            await script.apause()
        calls = script.next(2 * len(request.blocks) - 1)  # blocks are rounds: a reply and its result each
        if calls is None:
            parts, reason = (messages.TextPart(script.final),), "end"
        else:
            parse = _made["arguments"].parse_arguments
            parts = tuple([messages.ToolCall(one, name, parse(text)[0]) for one, name, _, text in calls])
            reason = "tool_calls"
        yield messages.AssistantMessage(parts, reason, _made["used"], self.model, self.name)


def make_model(script: Any) -> _Model:
    """A provider that follows the harness's script."""
    return _Model(script)


def make_agent(tools: list[Any], model: Any, rounds: int, variant: str) -> Any:
    """An agent that may run as many rounds as the script has."""
    kept = {} if variant == "default" else {"log": False, "quiet": True}
    limits = {"max_iterations": rounds + 5}
    result_limit = 32 * 1024 * 1024  # the harness gives back a result of 10 MiB
    return _made["Agent"](
        "bench",
        tools=tools,
        system_prompt="You are a helper.",
        model=model,
        plugins=_made["plugins"],
        limits=limits,
        tool_result_limit=result_limit,
        **kept,
    )


def run(agent: Any, prompt: str) -> str:
    """The synchronous entry."""
    return str(agent.run_sync(prompt))


async def arun(agent: Any, prompt: str) -> str:
    """The asynchronous entry."""
    return str(await agent.run(prompt))


def wire_model(base_url: str) -> Any:
    """A model behind the real openai SDK."""
    from hookagent.providers import OpenAIChatProvider

    return OpenAIChatProvider("fake", api_key="x", base_url=base_url)
