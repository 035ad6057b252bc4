"""Turns: from prompts until the agent gives control back, and all turns of one `run`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from hookagent.errors import PluginError
from hookagent.events import (
    AgentEnd,
    AgentStart,
    IterationStart,
    MessageReplaced,
    TurnEnd,
    TurnStart,
)
from hookagent.loop.budget import Exceeded
from hookagent.loop.ending import after_failure, after_interrupt, complete, refused
from hookagent.loop.messages_in import accept_queued, accept_user, store_added
from hookagent.loop.model_call import call_model
from hookagent.loop.replies import store_reply, take_reply
from hookagent.loop.run import End, Run
from hookagent.loop.tool_round import close_open_calls, resume_round
from hookagent.messages import AssistantMessage, UserMessage
from hookagent.requests import Request
from hookagent.usage import NO_USAGE


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
        if error is not None or end.status != "completed" or run.abort.aborted:
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
    state.turn_usage = NO_USAGE
    state.tools_called = []
    run.grants = {}
    run.steered = any(message.via == "steer" for message in prompts)
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
    if run.failure is not None:
        run.check_failure()
    if run.abort.aborted:
        return run.abort_end()
    # Limits win: what is queued stays queued.
    exceeded = run.budget.exceeded()
    if exceeded is not None:
        return await _limit(run, exceeded)
    # A turn that began with steering takes the next one in after its first reply.
    queued = () if run.steered else run.box.peek_steering()
    run.steered = False
    end = await accept_queued(run, queued) if queued else None
    if end is not None:
        return end
    run.iterations += 1
    run.budget.begin_iteration()
    state.iteration += 1
    run.emit(IterationStart, state.limits.max_iterations)
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
    reply, added = await _after_llm(run, request, reply) if run.hooks.after_llm else (reply, [])
    if run.abort.aborted:
        return run.abort_end()
    return await take_reply(run, reply, added)


async def _limit(run: Run, exceeded: Exceeded) -> End:
    """End at a limit; by option the model is asked once more, with tools switched off, how far it got."""
    end = End("limit", exceeded.text, exceeded.text, exceeded.limit)
    if not run.state.limits.closing_answer:
        return end
    run.closing = True
    called = await call_model(run)
    if isinstance(called, End):
        return end if called.status == "failed" else called
    request, reply = called
    reply, added = await _after_llm(run, request, reply)
    stored = store_reply(run, reply)
    if stored is None:
        return end
    store_added(run, added)
    await close_open_calls(run, "not run: tools are switched off, since a limit was reached")
    return end._replace(answer=stored.text if stored.text.strip() else end.answer)


async def _after_llm(run: Run, request: Request, reply: AssistantMessage) -> tuple[AssistantMessage, list[UserMessage]]:
    added: list[UserMessage] = []
    for implementation in run.hooks.after_llm:
        try:
            returned = await run.dispatch.one(implementation, request, reply)
        except (PluginError, KeyboardInterrupt):
            store_reply(run, reply)  # the value from before stays; what it calls is closed as not run
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
