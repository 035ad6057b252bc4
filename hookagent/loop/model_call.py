"""One model call: the request, the reply to it, and what becomes of a vendor's refusal."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from hookagent.abort import Aborted
from hookagent.errors import HookagentError, ProviderError, RequestRefusedError, describe_error
from hookagent.events import ErrorEvent, IterationStart, RequestSent
from hookagent.loop.asking import ask_around, ask_in_line
from hookagent.loop.request import blamed, is_shorter, shaped, whole_request
from hookagent.loop.run import End, Run
from hookagent.messages import AssistantMessage
from hookagent.providers.base import Provider
from hookagent.requests import Request


async def call_model(run: Run, unsaid: bool = False) -> tuple[Request, AssistantMessage] | End:
    """Ask the model; the request as it was shaped, and the reply, or the end of the turn.

    `unsaid`: that the iteration began is still to be said, together with that the request was sent.

    A request that is too long for the vendor lowers the window that is believed in; if a plugin then shapes it
    shorter it is sent once more, and never unchanged. Raises `PluginError` when a plugin failed, its request
    refused by the last check included.
    """
    try:
        provider = run.box.provider
        request = whole_request(run, provider)
        if run.hooks.shape_request:
            request = await shaped(run, request)
        called = await _asked(run, provider, request, unsaid)
        if isinstance(called, _TooLong):
            provider = run.box.provider
            shorter = await shaped(run, whole_request(run, provider))
            unchanged = not is_shorter(shorter, request)
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
        reply = await ask_around(run, provider, request) if wraps else await ask_in_line(run, provider, request, unsaid)
    except RequestRefusedError as error:
        if error.shaped_by is None:
            return await _failed(run, error, "request", str(error))
        hook = "shape_request" if error.shaped_by == request.shaped_by else "wrap_model_call"
        raise blamed(run, error, hook) from error
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


async def _failed(run: Run, error: BaseException, source: str, text: str) -> End:
    run.emit(ErrorEvent, "model", source, text)
    for implementation in run.hooks.on_error:
        await run.dispatch.one(implementation, error, None)
    return End("failed", text, error_kind=error.kind if isinstance(error, ProviderError) else None)
