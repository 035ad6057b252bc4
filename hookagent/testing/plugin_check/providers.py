"""The same for a provider: a model that a plugin brings, asked by an agent, and its stream looked at item by item."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from importlib.metadata import entry_points
from typing import Any, Final

from hookagent import AssistantMessage, ConfigurationError, ProviderError, Request, ToolCall, hookimpl
from hookagent.providers import Delta, Provider, provider_for
from hookagent.testing.plugin_check.evidence import Neighbours, carry_out
from hookagent.testing.plugin_check.findings import Aftermath, Findings, PluginReport
from hookagent.testing.plugin_check.isolation import ENVIRONMENT
from hookagent.testing.plugin_check.judging import Problem, problems_of
from hookagent.testing.plugin_check.loading import import_problems
from hookagent.testing.plugin_check.runs import ReferenceRun, ask

GROUP: Final = "hookagent.providers"
_KINDS: Final = ("text", "thinking", "arguments")
_WHATEVER: Final = ("completed", "failed", "limit", "refused", "stopped", "aborted")
_LIMITS: Final = {"limits": {"max_iterations": 3}}
_RUNS: Final = (
    ReferenceRun("one question", (), _WHATEVER, ("Look at the apple.",), _LIMITS, drive=ask),
    ReferenceRun("two turns", (), _WHATEVER, ("Count the numbers 1, 2 and 3.", "And 4 and 5?"), _LIMITS, drive=ask),
)
_KEEP: Final = "keep to the contract of `hookagent.providers.Provider`"


def is_provider_name(name: str) -> bool:
    """Whether a name is a provider's and no plugin's."""
    return bool(entry_points(group=GROUP, name=name)) and not entry_points(group="hookagent", name=name)


def check_provider(provider: Any, *, seconds: float = 60.0) -> PluginReport:
    """Prove in one line of a test that a provider keeps its contract.

    `provider` is a model's name, by which an entry point of the group `hookagent.providers` is found, or a provider
    object. It is asked by an agent with a few tools, in one turn and in two. What it answers is its own matter, also
    that it cannot; checked is that its stream gives deltas and then one whole message, that nothing but a
    `ProviderError` comes out of it, that transcript and hooks are in order, and that nothing is left behind; for a name
    also that it is imported only when it is named. `seconds` is the most that one run may take.

    Raises `AssertionError` with all that is wrong: in which run, and what to do.
    """
    findings = Findings()
    names: list[str] = []
    name = provider if isinstance(provider, str) else f"{provider.name}:{provider.model}"
    # An engine that is imported reads its switches from the environment, where its provider has to put them.
    with Aftermath(findings, but=(ENVIRONMENT,)), asyncio.Runner() as runner:
        if isinstance(provider, str):
            for entry in entry_points(group=GROUP, name=provider.partition(":")[0]):
                findings.add("loading", *import_problems(entry))
        try:
            watched = _Watched(provider_for(provider))
        except ConfigurationError as error:
            findings.add("loading", Problem(f"it cannot be had: {error}", "mend what is named"))
        else:
            neighbours = Neighbours()
            for run in _RUNS:
                evidence = neighbours.prepare(run, _nothing, None, None, {}, model=watched)
                runner.run(carry_out(evidence, None, seconds))
                findings.add(evidence.name, *problems_of(evidence, name), *watched.taken())
                names.append(evidence.name)
    return findings.report(name, names, 0)


@hookimpl(specname="on_session_start")
def _nothing() -> None:
    """Stands where a plugin stands otherwise."""


class _Watched:
    """A provider whose streams are looked at."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self.name, self.model, self.wire, self.notice = provider.name, provider.model, provider.wire, provider.notice
        self._problems: list[Problem] = []

    @property
    def context_window(self) -> int | None:
        """The provider's own."""
        return self._provider.context_window

    def taken(self) -> list[Problem]:
        """What was wrong since this was asked last."""
        problems, self._problems = self._problems, []
        return problems

    async def stream(self, request: Request) -> AsyncIterator[Any]:
        """Pass on what the provider gives."""
        whole: AssistantMessage | None = None
        try:
            async for item in self._provider.stream(request):
                if whole is not None:
                    self._say("its stream goes on behind the whole message")
                if isinstance(item, AssistantMessage):
                    whole = item
                    for text in _faults(item, request):
                        self._say(text)
                elif not isinstance(item, Delta) or item.kind not in _KINDS or not isinstance(item.text, str):
                    self._say(f"its stream gives {item!r:.200}, which is neither a Delta nor the whole message")
                yield item
        except (ProviderError, asyncio.CancelledError, GeneratorExit):
            raise
        except BaseException as error:
            self._say(f"its stream raised {type(error).__name__}: {error}; it may raise ProviderError only")
            raise
        if whole is None:
            self._say("its stream ended without the whole message")

    def _say(self, text: str) -> None:
        self._problems.append(Problem(text, _KEEP))


def _faults(reply: AssistantMessage, request: Request) -> Iterator[str]:
    ids = [part.id for part in reply.parts if isinstance(part, ToolCall)]
    known = {call.id for message in request.blocks.transcript.messages() for call in getattr(message, "tool_calls", ())}
    if len(set(ids)) != len(ids) or known & set(ids) or not all(ids):
        yield f"the ids of its calls are not new: {', '.join(map(repr, ids))}"
    if bool(ids) != (reply.stop_reason == "tool_calls") and reply.stop_reason in ("tool_calls", "end"):
        yield f"its reply has {len(ids)} calls and the stop reason '{reply.stop_reason}'"
    if reply.stop_reason == "end" and not reply.text.strip() and not ids:
        yield "its reply has neither text nor calls, and says that it is complete"
    usage = reply.usage
    if min(usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens) < 0:
        yield f"its usage counts below zero: {usage}"
