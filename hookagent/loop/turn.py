"""Turns: from prompts until the agent gives control back, and all turns of one `run`."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from hookagent.errors import PluginError
from hookagent.events import (
    AgentEnd,
    AgentStart,
    ErrorEvent,
    IterationStart,
    MessageEnd,
    MessageReplaced,
    TurnEnd,
    TurnStart,
)
from hookagent.loop.ending import after_failure, after_interrupt, complete, refused
from hookagent.loop.messages_in import accept_queued, accept_user, store_added
from hookagent.loop.model_call import call_model
from hookagent.loop.run import BEFORE_COMPLETE_AT_MOST, End, Run
from hookagent.loop.tool_round import resume_round, tool_round
from hookagent.messages import AssistantMessage, ToolCall, UserMessage
from hookagent.requests import Request
from hookagent.usage import Usage


class Finished(NamedTuple):
    """How a `run` ended: its last turn's end, and what is to be raised, if anything."""

    end: End
    error: BaseException | None


async def run_turns(run: Run, prompts: Sequence[UserMessage]) -> Finished:
    """Run turns until nothing is queued any more. Raises nothing; the transcript is valid when it returns."""
    provider = run.box.provider
    run.emit(AgentStart, run.agent.name, f"{provider.name}:{provider.model}" if provider.model else provider.name)
    while True:
        end, error = await _turn(run, prompts)
        if error is not None or end.status != "completed" or run.aborted:
            break
        prompts = run.box.peek_steering() or run.box.peek_follow_up()
        if not prompts:
            break
    run.emit(AgentEnd, end.status, end.answer, run.usage)
    run.list_failure()
    return Finished(end, error)


async def _turn(run: Run, prompts: Sequence[UserMessage]) -> Finished:
    state = run.state
    state.turn += 1
    state.iteration = 0
    state.turn_usage = Usage()
    state.tools_called = []
    run.grants = {}
    run.unread = [message for message in prompts if message.via == "prompt"]
    state.user_prompt = prompts[0].text if prompts else state.user_prompt
    run.emit(TurnStart, prompts[0].text if prompts else "")
    error: BaseException | None = None
    try:
        end = await _body(run, prompts)
        run.check_failure()
    except PluginError as failure:
        error = failure
        end = await after_failure(run, failure)
    except (asyncio.CancelledError, KeyboardInterrupt) as stop:
        # Only a cancellation of the run's own task gets here: everything else is waited for elsewhere.
        end, error = await after_interrupt(run, stop)
    except BaseException as bug:
        error = bug
        end = await after_failure(run, bug)
    end = refused(run, end)
    run.not_stored.extend(run.unread)
    await complete(run, end)
    run.emit(TurnEnd, end.status, end.answer, state.turn_usage)
    return Finished(end, run.interrupt or error)


async def _body(run: Run, prompts: Sequence[UserMessage]) -> End:
    """The work of a turn: prompts in, then iterations until the model answers without calls."""
    if not run.state.started:
        run.state.started = True
        for implementation in run.hooks.on_session_start:
            await run.dispatch.one(implementation)
    end: End | None = None
    if run.state.transcript.open_round is not None:
        end = await resume_round(run)
        if end is not None and end.status != "waiting":
            return end
    for message in prompts:
        stopped = await accept_user(run, message)
        if stopped is not None:
            return stopped
    while end is None:
        end = await _iteration(run)
    return end


async def _iteration(run: Run) -> End | None:
    state = run.state
    end = await accept_queued(run, run.box.peek_steering())
    if end is not None:
        return end
    run.check_failure()
    if run.aborted:
        return run.abort_end()
    maximum = state.limits.max_iterations
    if maximum is not None and run.iterations >= maximum:
        text = f"stopped after {run.iterations} iterations: the limit max_iterations is {maximum}"
        return End("limit", text, text, "max_iterations")
    run.iterations += 1
    state.iteration += 1
    run.emit(IterationStart, maximum)
    for implementation in run.hooks.before_llm:
        returned = await run.dispatch.one(implementation, state.iteration)
        if returned is None:
            continue
        store_added(run, returned.messages)
        if returned.verdict is not None:
            return End("stopped", f"'{implementation.plugin}' stopped the run: {returned.verdict.reason}")
    called = await call_model(run)
    if isinstance(called, End):
        return called
    request, reply = called
    reply, added = await _after_llm(run, request, reply)
    if run.aborted:
        return run.abort_end()
    return await _take_reply(run, reply, added)


async def _after_llm(run: Run, request: Request, reply: AssistantMessage) -> tuple[AssistantMessage, list[UserMessage]]:
    added: list[UserMessage] = []
    for implementation in run.hooks.after_llm:
        try:
            returned = await run.dispatch.one(implementation, request, reply)
        except (PluginError, KeyboardInterrupt):
            _store_reply(run, reply)  # the value from before stays; what it calls is closed as not run
            raise
        if returned is None:
            continue
        if returned.replacement is not None and returned.replacement != reply:
            replaced = returned.replacement.without_provider_parts()
            # That the output limit cut it stays true: none of its calls may run.
            reply = replace(replaced, stop_reason="length") if reply.stop_reason == "length" else replaced
            run.emit(MessageReplaced, f"replaced by '{implementation.plugin}'")
        added.extend(returned.messages)
    return reply, added


async def _take_reply(run: Run, reply: AssistantMessage, added: list[UserMessage]) -> End | None:
    """Store a reply and act on it: run its calls, go on, or let the turn end."""
    stored = _store_reply(run, reply)
    if stored is None:
        detail = f" ({reply.stop_detail})" if reply.stop_detail else ""
        return await _empty_reply(run, f"the model gave an empty reply; stop reason: {reply.stop_reason}{detail}")
    store_added(run, added)
    run.check_failure()
    text = stored.text
    if stored.tool_calls:
        return await tool_round(run, stored)
    if reply.stop_reason == "pause":
        return None
    if reply.stop_reason == "length":
        reason = "the answer was cut by the output limit; raise model_settings.max_output_tokens"
        return End("limit", reason, text, "max_output_tokens")
    if reply.stop_reason in ("filtered", "refusal", "too_long"):
        detail = f": {reply.stop_detail}" if reply.stop_detail else ""
        return End("failed", f"the model stopped ({reply.stop_reason}{detail})", text)
    return await _before_end(run, text)


def _store_reply(run: Run, reply: AssistantMessage) -> AssistantMessage | None:
    """Store a reply with call ids of its own, as which it is returned; None: there is nothing in it to be stored."""
    if not reply.tool_calls and not reply.text.strip() and reply.stop_reason != "pause":
        return None
    state = run.state
    reply = _with_fresh_ids(reply, state.used_ids)
    state.grow(state.transcript.with_reply(reply))
    run.emit(MessageEnd, reply)
    return reply


async def _empty_reply(run: Run, reason: str) -> End:
    error = RuntimeError(reason)
    run.emit(ErrorEvent, "model", run.box.provider.name, reason)
    for implementation in run.hooks.on_error:
        await run.dispatch.one(implementation, error, None)
    return End("failed", reason)


async def _before_end(run: Run, answer: str) -> End | None:
    """A reply without calls is stored: steering, `before_complete`, follow-up, in this order; else the turn ends."""
    if run.box.peek_steering():
        return None
    go_on = False
    for implementation in run.hooks.before_complete:
        returned = await run.dispatch.one(implementation, answer)
        if returned is None or not returned.messages:
            continue
        granted = run.grants.get(implementation.plugin, 0)
        if granted >= BEFORE_COMPLETE_AT_MOST:
            run.emit(
                ErrorEvent,
                "plugin",
                implementation.plugin,
                f"asked to go on more than {BEFORE_COMPLETE_AT_MOST} times in this turn; the turn ends",
            )
            continue
        run.grants[implementation.plugin] = granted + 1
        store_added(run, returned.messages)
        go_on = True
    if run.aborted:
        return run.abort_end()
    if go_on:
        return None
    follow_up = run.box.peek_follow_up()
    if follow_up:
        return await accept_queued(run, follow_up)
    return End("completed", "", answer)


def _with_fresh_ids(reply: AssistantMessage, used: set[str]) -> AssistantMessage:
    """Give calls whose id is missing or was used before in this session a fresh one."""
    if not reply.tool_calls:
        return reply
    changed = False
    parts = []
    for part in reply.parts:
        if type(part) is ToolCall:
            call_id = part.id
            while not call_id or call_id in used:
                call_id = f"call_{secrets.token_hex(12)}"
            used.add(call_id)
            if call_id != part.id:
                part = replace(part, id=call_id)
                changed = True
        parts.append(part)
    return replace(reply, parts=tuple(parts)) if changed else reply
