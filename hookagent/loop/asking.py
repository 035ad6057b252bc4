"""Ask the model once: around it the hooks, in it the stream, after it the books."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from hookagent.abort import Aborted
from hookagent.around import around_model
from hookagent.errors import ProviderError
from hookagent.events import MessageDelta, MessageReplaced, MessageStart, ResponseReceived, Retry
from hookagent.loop.run import Run
from hookagent.messages import AssistantMessage
from hookagent.providers.base import Delta, Provider, Retrying
from hookagent.providers.retry import ask_with_retries
from hookagent.requests import Request
from hookagent.work import Left, Work, call_directly, from_outside, in_line, take_back_cancellation


async def ask_around(run: Run, provider: Provider, request: Request) -> AssistantMessage | Aborted:
    """Ask through the `wrap_model_call` hooks."""

    async def innermost(current: Request) -> AssistantMessage | Aborted:
        task = asyncio.current_task()
        assert task is not None
        cancels = task.cancelling()
        try:
            return await _stream(run, provider, current)
        except asyncio.CancelledError as cancelled:
            if run.abort.aborted or from_outside(cancelled):
                raise
            await take_back_cancellation(task, cancels)
            raise _cancelled_within(provider) from cancelled

    reply: AssistantMessage | Aborted = await around_model(run.dispatch, run.hooks.wrap_model_call, request, innermost)
    return reply


async def ask_in_line(run: Run, provider: Provider, request: Request, begun: bool) -> AssistantMessage | Aborted:
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
        if task.cancelling() > cancels:  # by the abort, or by a provider that replied all the same
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
        del supervisor.cancelled_at_abort[task]


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
