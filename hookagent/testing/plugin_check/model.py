"""The model of the reference runs: its script goes by what the transcript shows, not by how often it was asked.

So a plugin may ask it questions of its own, send the agent back, or have a request sent twice, and the run goes on as
it should.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Final

from hookagent import Request, ToolRound, UserMessage
from hookagent.providers import AnthropicProvider, OpenAIChatProvider, OpenAIResponsesProvider, ScriptedProvider
from hookagent.testing.server import Call, Fault, Reply, StrictServer

Step = Mapping[str, Any]
"""A step of `ScriptedProvider` with `text`, `calls` (each `name`, `arguments` and `id`) or `error`."""

SCRIPTED: Final = "scripted"
ASIDE: Final = "Noted."
"""What the model says to a plugin's own question."""

_PROVIDERS: Final[Mapping[str, Callable[[StrictServer], Any]]] = {
    "anthropic": lambda server: AnthropicProvider("claude-sonnet-5", api_key="any", base_url=server.anthropic_url),
    "openai": lambda server: OpenAIResponsesProvider("gpt-5", api_key="any", base_url=server.openai_url),
    "openai-chat": lambda server: OpenAIChatProvider("gpt-5", api_key="any", base_url=server.openai_url),
}
WIRES: Final = tuple(_PROVIDERS)
"""The wire forms that a reference run goes over, each by its real SDK to a strict server."""


class Line:
    """A wire form: the real provider, and the strict server that it talks to. Use it as a context manager."""

    def __init__(self, wire: str) -> None:
        self.wire = wire
        self.next_step: Step = {}
        self.server = StrictServer(lambda body: _answer(self.next_step))
        self.provider: Any = None

    def __enter__(self) -> Line:
        self.server.__enter__()
        self.provider = _PROVIDERS[self.wire](self.server)
        return self

    def __exit__(self, *exception: object) -> None:
        self.server.__exit__(*exception)


class ReferenceModel:
    """A provider that plays `turns`: for each message of a person the steps, one for each tool round so far.

    The last step of a turn stands for all that are asked for behind it. With a `line` the request goes over that wire
    form, and the strict server answers; without, nothing is sent. `requests` counts what the agent asked.
    """

    wire: str | None = None
    notice = ""

    def __init__(self, turns: Sequence[Sequence[Step]], line: Line | None = None) -> None:
        self._turns = turns
        self._line = line
        self._inner: Any = ScriptedProvider(self._step) if line is None else line.provider
        self.name: str = self._inner.name
        self.model: str = self._inner.model
        self.wire = self._inner.wire
        self.context_window: int | None = None
        self.requests = 0

    async def stream(self, request: Request) -> AsyncIterator[Any]:
        """Answer a request with the step that its transcript calls for."""
        self.requests += bool(request.session_id)
        if self._line is not None:
            self._line.next_step = self._step(request)
        async for item in self._inner.stream(request):
            yield item

    def _step(self, request: Request) -> Step:
        if not request.session_id:
            return {"text": ASIDE if request.output_schema is None else json.dumps(_example(request.output_schema))}
        turn, rounds = 0, 0
        for block in request.blocks.transcript:
            if isinstance(block, UserMessage) and block.origin is None:
                turn, rounds = turn + 1, 0
            elif isinstance(block, ToolRound):
                rounds += 1
        steps = self._turns[min(max(turn, 1), len(self._turns)) - 1]
        return steps[min(rounds, len(steps) - 1)]


def _answer(step: Step) -> Reply | Fault:
    if "error" in step:
        return Fault(status=500, message="the reference run wants the model to fail here")
    calls = [Call(one["name"], one.get("raw_arguments", one.get("arguments", {})), one["id"]) for one in _calls(step)]
    return Reply(step.get("text", ""), calls)


def _calls(step: Step) -> Sequence[Mapping[str, Any]]:
    calls: Sequence[Mapping[str, Any]] = step.get("calls", ())
    return calls


def _example(schema: Mapping[str, Any]) -> Any:
    """The plainest value that a JSON schema of a pydantic model takes, for answers in a given shape."""
    definitions = schema.get("$defs", {})

    def plainest(part: Mapping[str, Any]) -> Any:
        if "$ref" in part:
            return plainest(definitions[part["$ref"].rpartition("/")[2]])
        for known in ("const", "default"):
            if known in part:
                return part[known]
        if part.get("enum"):
            return part["enum"][0]
        for several in ("anyOf", "oneOf", "allOf"):
            if part.get(several):
                # A model that may hold another one of its kind ends where it holds none.
                return plainest(min(part[several], key=lambda one: one.get("type") != "null"))
        if part.get("type") == "object":
            properties = part.get("properties", {})
            return {name: plainest(properties[name]) for name in part.get("required", properties)}
        if part.get("type") == "array":
            first = [plainest(one) for one in part.get("prefixItems", ())]
            missing = range(len(first), part.get("minItems", 0))
            return [*first, *(plainest(part.get("items", {})) for _ in missing)]
        low = part.get("exclusiveMinimum", -1) + 1
        return {
            "string": "x" * part.get("minLength", 0),
            "integer": part.get("minimum", low),
            "number": part.get("minimum", low),
            "boolean": True,
        }.get(part.get("type", "string"))

    return plainest(schema)
