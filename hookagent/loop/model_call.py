"""One model call: build the request, let hooks shape it, check it, stream the reply, book what it used."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

from hookagent.abort import Aborted
from hookagent.around import around_model
from hookagent.errors import PluginError, ProviderError, RequestRefusedError
from hookagent.events import (
    Compaction,
    ErrorEvent,
    MessageDelta,
    MessageReplaced,
    MessageStart,
    RequestSent,
    ResponseReceived,
    Retry,
)
from hookagent.frozen import FrozenDict
from hookagent.loop.run import End, Run
from hookagent.messages import AssistantMessage
from hookagent.providers.base import Delta, Provider, Retrying
from hookagent.providers.retry import stream_with_retries
from hookagent.requests import BlockView, Note, Request


async def call_model(run: Run) -> tuple[Request, AssistantMessage] | End:
    """Ask the model once; the request as it was shaped, and the reply, or the end of the turn.

    Raises `PluginError` when a plugin failed, its request refused by the last check included.
    """
    request = await _shaped(run)
    if run.aborted:
        return run.abort_end()
    provider = run.box.provider
    run.state.window = provider.context_window
    run.emit(RequestSent, len(request.blocks), len(request.tools), request.shaped_by)
    wraps = run.hooks.wrap_model_call
    try:
        reply = await _around(run, provider, request) if wraps else await _inline(run, provider, request)
    except ProviderError as error:
        return await _failed(run, error, f"{provider.name}:{provider.model}")
    except RequestRefusedError as error:
        if error.shaped_by is not None:
            raise _blamed(run, error) from error
        return await _failed(run, error, "request")
    if isinstance(reply, Aborted) or run.aborted:
        return run.abort_end()
    return request, reply


def _blamed(run: Run, error: RequestRefusedError) -> PluginError:
    plugin = error.shaped_by or ""
    hooks = (*run.hooks.shape_request, *run.hooks.wrap_model_call)
    found = next((one for one in hooks if one.plugin == plugin), None)
    run.dispatch.failed.add(plugin)
    hook = found.hook if found is not None else "shape_request"
    return PluginError(
        plugin, found.distribution if found else None, hook, f"made a request that cannot be sent: {error}"
    )


async def _failed(run: Run, error: Exception, source: str) -> End:
    run.emit(ErrorEvent, "model", source, str(error))
    for implementation in run.hooks.on_error:
        await run.dispatch.one(implementation, error, None)
    return End("failed", str(error))


async def _shaped(run: Run) -> Request:
    box, state = run.box, run.state
    settings = box.model_settings
    request = Request(
        blocks=BlockView(state.transcript),
        system=box.system_prompt,
        tools=box.tools.tools,
        settings=settings if isinstance(settings, FrozenDict) else FrozenDict(settings),
        protected=state.protected,
        session_id=state.id,
    )
    for implementation in run.hooks.shape_request:
        returned = await run.dispatch.one(implementation, request)
        if returned is None or returned.value is None or returned.value is request:
            continue
        before = request
        request = _owned(returned.value, implementation.plugin)
        if len(request.blocks) != len(before.blocks) or request.summary != before.summary:
            blocks_before, blocks_after = len(before.blocks), len(request.blocks)
            has_summary = request.summary is not None
            run.emit(Compaction, implementation.plugin, blocks_before, blocks_after, has_summary)
    return request


def _owned(request: Request, plugin: str) -> Request:
    """Name the plugin as the last one that shaped it, and as the origin of the notes it added."""
    notes = tuple(note if note.origin else Note(note.text, plugin) for note in request.notes)
    return replace(request, notes=notes, shaped_by=plugin)


async def _around(run: Run, provider: Provider, request: Request) -> AssistantMessage | Aborted:
    """Ask through the `wrap_model_call` hooks, in a task of their own."""
    supervisor = run.supervisor

    async def innermost(current: Request) -> AssistantMessage | Aborted:
        if current is not request:
            current = replace(current, shaped_by=current.shaped_by or "wrap_model_call")
        return await _stream(run, provider, current)

    chain = around_model(run.dispatch, run.hooks.wrap_model_call, request, innermost)

    async def hooks() -> AssistantMessage | Aborted:
        reply: AssistantMessage | Aborted = await chain
        return reply

    ended, outcome = await supervisor.run_to_the_end(hooks())
    if ended == "aborted" or outcome is None or run.aborted:
        return Aborted(supervisor.abort.reason)
    if outcome.error is not None:
        raise outcome.error
    result: AssistantMessage | Aborted = outcome.value
    return result


async def _inline(run: Run, provider: Provider, request: Request) -> AssistantMessage | Aborted:
    """Ask in the run's own task: an abort cancels what it awaits, and the cancellation ends here."""
    supervisor = run.supervisor
    task = asyncio.current_task()
    assert task is not None
    supervisor.inline_task = task
    try:
        return await _stream(run, provider, request)
    except asyncio.CancelledError:
        if not run.aborted:
            raise
        task.uncancel()
        return Aborted(supervisor.abort.reason)
    finally:
        supervisor.inline_task = None


async def _stream(run: Run, provider: Provider, request: Request) -> AssistantMessage | Aborted:
    emit, emitter, clock = run.emit, run.emitter, run.supervisor.clock
    start = clock.monotonic()
    heard = False
    reply: AssistantMessage | None = None
    emit(MessageStart, "assistant")
    stream: AsyncIterator[Any] = stream_with_retries(
        provider, request, clock=clock, policy=run.retry_policy, may_retry=lambda: not heard
    )
    async for item in stream:
        if type(item) is Delta:
            if emitter.heard:
                heard = True
                emit(MessageDelta, item.kind, item.text)
        elif isinstance(item, AssistantMessage):
            reply = item
        elif type(item) is Retrying:
            emit(Retry, item.attempt, item.wait_seconds, item.error)
            emit(MessageReplaced, "retry")
        if run.supervisor.abort.aborted:
            return Aborted(run.supervisor.abort.reason)
    assert reply is not None
    _book(run, reply)
    milliseconds = (clock.monotonic() - start) * 1000.0
    emit(ResponseReceived, reply.usage, reply.stop_reason, milliseconds)
    return reply


def _book(run: Run, reply: AssistantMessage) -> None:
    usage = reply.usage if reply.usage.requests else replace(reply.usage, requests=1)
    state = run.state
    state.usage = state.usage + usage
    state.turn_usage = state.turn_usage + usage
    run.usage = run.usage + usage
    if usage.total_tokens:
        state.last_reply_tokens = usage.total_tokens
