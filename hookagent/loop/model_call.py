"""One model call: build the request, let hooks shape it, check it, stream the reply, book what it used."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from hookagent.abort import Aborted
from hookagent.around import around_model, owned_request
from hookagent.errors import HookagentError, PluginError, ProviderError, RequestRefusedError, describe_error
from hookagent.events import (
    Compaction,
    ErrorEvent,
    IterationStart,
    MessageDelta,
    MessageReplaced,
    MessageStart,
    RequestSent,
    ResponseReceived,
    Retry,
)
from hookagent.frozen import FrozenDict, freeze
from hookagent.loop.run import End, Run
from hookagent.messages import AssistantMessage
from hookagent.providers.base import Delta, Provider, Retrying
from hookagent.providers.retry import ask_with_retries
from hookagent.requests import BlockView, Request
from hookagent.work import Left, Work, call_directly, from_outside, in_line, take_back_cancellation

_NO_SETTINGS = FrozenDict()


async def call_model(run: Run, unsaid: bool = False) -> tuple[Request, AssistantMessage] | End:
    """Ask the model; the request as it was shaped, and the reply, or the end of the turn.

    `unsaid`: that the iteration began is still to be said, together with that the request was sent.

    A request that is too long for the vendor lowers the window that is believed in; if a plugin then shapes it
    shorter it is sent once more, and never unchanged. Raises `PluginError` when a plugin failed, its request
    refused by the last check included.
    """
    try:
        provider = run.box.provider
        request = _whole_request(run, provider)
        if run.hooks.shape_request:
            request = await _shaped(run, request)
        called = await _asked(run, provider, request, unsaid)
        if isinstance(called, _TooLong):
            provider = run.box.provider
            shorter = await _shaped(run, _whole_request(run, provider))
            unchanged = not _is_shorter(shorter, request)
            called = _too_long(called) if unchanged else await _asked(run, provider, shorter)
            if isinstance(called, _TooLong):
                called = _too_long(called)
            request = shorter
    finally:
        run.state.streaming = None
    return called if isinstance(called, End) else (request, called)


class _TooLong(NamedTuple):
    """The vendor refused the request for its length."""

    error: ProviderError


async def _asked(
    run: Run, provider: Provider, request: Request, unsaid: bool = False
) -> AssistantMessage | End | _TooLong:
    if run.abort.aborted:
        if unsaid:
            run.emit(IterationStart, run.state.limits.max_iterations)
        return run.abort_end()
    wraps = run.hooks.wrap_model_call
    if unsaid:
        run.emitter.note_asked(run.state.limits.max_iterations, request.blocks.size, len(request.tools), None)
    else:
        run.emit(RequestSent, len(request.blocks), len(request.tools), request.shaped_by)
    try:
        reply = await _around(run, provider, request) if wraps else await _inline(run, provider, request, unsaid)
    except RequestRefusedError as error:
        if error.shaped_by is None:
            return await _failed(run, error, "request", str(error))
        hook = "shape_request" if error.shaped_by == request.shaped_by else "wrap_model_call"
        raise _blamed(run, error, hook) from error
    except ProviderError as error:
        end = await _failed(run, error, f"{provider.name}:{provider.model}", str(error))
        if error.kind != "too_long" or run.abort.aborted:
            return end
        run.state.lower_window(error.window)
        return _TooLong(error)
    except (HookagentError, KeyboardInterrupt, asyncio.CancelledError):
        raise
    except BaseException as error:  # a provider that is not ours raised what no provider should
        source = f"{provider.name}:{provider.model}"
        return await _failed(run, error, source, f"{source}: raised {describe_error(error)}")
    if isinstance(reply, Aborted) or run.abort.aborted:
        return run.abort_end()
    return reply


def _too_long(refused: _TooLong) -> End:
    return End("failed", str(refused.error), error_kind=refused.error.kind)


def _is_shorter(request: Request, than: Request) -> bool:
    """Whether a request leaves something out that the other one had, or sends something else in its place."""
    now, before = request.blocks, than.blocks
    return len(now) < len(before) or now.replaced != before.replaced or request.tools != than.tools


def _blamed(run: Run, error: RequestRefusedError, hook: str) -> PluginError:
    plugin = error.shaped_by or ""
    hooks = run.hooks.shape_request if hook == "shape_request" else run.hooks.wrap_model_call
    distribution = next((one.distribution for one in hooks if one.plugin == plugin), None)
    run.dispatch.failed.add(plugin)
    return PluginError(plugin, distribution, hook, f"made a request that cannot be sent: {error}")


async def _failed(run: Run, error: BaseException, source: str, text: str) -> End:
    run.emit(ErrorEvent, "model", source, text)
    for implementation in run.hooks.on_error:
        await run.dispatch.one(implementation, error, None)
    return End("failed", text, error_kind=error.kind if isinstance(error, ProviderError) else None)


def _whole_request(run: Run, provider: Provider) -> Request:
    """The request that nobody has shaped yet: everything is in it."""
    box, state = run.box, run.state
    window = provider.context_window
    if window != state.window:
        state.know_window(window)
    settings = box.model_settings
    # By place, which is faster: a request has many fields, and one is made in each round.
    return Request(
        BlockView(state.transcript),
        box.system_prompt,
        None,
        run.tools.tools,
        "none" if run.closing else "auto",
        _frozen(settings) if settings else _NO_SETTINGS,
        (),
        state.protected,
        state.id,
    )


async def _shaped(run: Run, request: Request) -> Request:
    values: list[Any] = [request]
    for implementation, answer in run.dispatch.voices(run.hooks.shape_request, values):
        returned = await answer
        if returned is None or returned.value is None or returned.value is request:
            continue
        before = request
        try:
            request = owned_request(returned.value, before, implementation.plugin)
        except RequestRefusedError as error:
            raise _blamed(run, error, "shape_request") from error
        values[0] = request
        _announce(run, implementation.plugin, before, request)
    return request


def _announce(run: Run, plugin: str, before: Request, request: Request) -> None:
    """Say that a plugin made the request shorter, once for each shape that it gives it."""
    if not isinstance(request.blocks, BlockView):
        return  # the last check refuses it, and says why
    shape = (request.blocks.start, request.summary)
    known = run.state.shapes.get(plugin, (before.blocks.start, before.summary))
    run.state.shapes[plugin] = shape
    if shape != known:
        blocks, start, summary = len(before.blocks), request.blocks.start, request.summary
        run.emit(Compaction, plugin, blocks, len(request.blocks), summary is not None, start, summary)


def _frozen(settings: Mapping[str, Any]) -> FrozenDict:
    try:
        frozen: FrozenDict = freeze(settings)
    except TypeError:  # no JSON: the provider says which setting it cannot take
        return FrozenDict(settings)
    return frozen


async def _around(run: Run, provider: Provider, request: Request) -> AssistantMessage | Aborted:
    """Ask through the `wrap_model_call` hooks."""

    async def innermost(current: Request) -> AssistantMessage | Aborted:
        task = asyncio.current_task()
        assert task is not None
        cancels = task.cancelling()
        try:
            return await _stream(run, provider, current)
        except asyncio.CancelledError as cancelled:
            own = task is not run.supervisor.own_task and task.cancelling() > cancels  # a hook made it, and may end it
            if own or run.abort.aborted or from_outside(cancelled):
                raise
            await take_back_cancellation(task, cancels)
            raise _cancelled_within(provider) from cancelled

    reply: AssistantMessage | Aborted = await around_model(run.dispatch, run.hooks.wrap_model_call, request, innermost)
    return reply


async def _inline(run: Run, provider: Provider, request: Request, begun: bool) -> AssistantMessage | Aborted:
    """Ask in the run's own task: an abort cancels what it awaits, and the cancellation ends here."""
    supervisor = run.supervisor
    task = supervisor.own_task or supervisor.task
    supervisor.cancelled_at_abort[task] = None
    cancels = task.cancelling()
    try:
        reply: AssistantMessage | Aborted | Left = await in_line(
            _stream(run, provider, request, begun), call_directly, task, supervisor.is_grace_over
        )
        if isinstance(reply, Left):  # a provider that goes on whatever it is told
            Work(supervisor.loop, reply.go_on(), context=supervisor.context)
            reply = Aborted(supervisor.abort.reason)
        if run.abort.aborted and task.cancelling() > cancels:
            await take_back_cancellation(task, cancels)
        return reply
    except asyncio.CancelledError as cancelled:
        if run.abort.aborted:
            await take_back_cancellation(task, cancels)
            return Aborted(supervisor.abort.reason)
        if from_outside(cancelled):
            raise
        await take_back_cancellation(task, cancels)
        raise _cancelled_within(provider) from cancelled
    finally:
        supervisor.cancelled_at_abort.pop(task, None)


def _cancelled_within(provider: Provider) -> ProviderError:
    """Nobody cancelled the call: what the provider waited for was cancelled behind its back."""
    return ProviderError("connection", provider.name, "the model call was cancelled from within")


async def _stream(run: Run, provider: Provider, request: Request, begun: bool = False) -> AssistantMessage | Aborted:
    emit, emitter, abort, clock = run.emit, run.emitter, run.abort, run.supervisor.clock
    start = clock.monotonic()
    heard = False
    streaming: list[str] = []
    run.state.streaming = streaming

    def hear(item: Delta | Retrying) -> bool:
        nonlocal heard
        if run.supervisor.grace_over:
            return False
        if type(item) is Delta:
            if item.kind == "text":
                streaming.append(item.text)
            if emitter.heard:
                heard = True
                emit(MessageDelta, item.kind, item.text)
        elif type(item) is Retrying:
            emit(Retry, item.attempt, item.wait_seconds, item.error)
            streaming.clear()
            emit(MessageReplaced, "retry")
        return not abort.aborted

    if not begun:
        emit(MessageStart, "assistant")
    if abort.aborted:  # by somebody who was just told of the request
        return Aborted(abort.reason)
    reply = await ask_with_retries(
        provider, request, hear, clock=clock, policy=run.retry_policy, may_retry=lambda: not heard
    )
    if reply is None or run.supervisor.grace_over:
        return Aborted(abort.reason)
    _book(run, reply)
    milliseconds = (clock.monotonic() - start) * 1000.0
    emit(ResponseReceived, reply.usage, reply.stop_reason, milliseconds)
    return reply


def _book(run: Run, reply: AssistantMessage) -> None:
    usage = reply.usage
    if not usage.requests:
        usage = replace(usage, requests=1)
    state = run.state
    before = run.usage
    total = run.usage = before + usage
    # Session, turn and budget have mostly counted the same as the run: one sum serves them all.
    state.usage = total if state.usage is before else state.usage + usage
    state.turn_usage = total if state.turn_usage is before else state.turn_usage + usage
    run.budget.add(usage, (before, total))
    tokens = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens + usage.output_tokens
    if tokens:
        state.last_reply_tokens = tokens
