"""Turns: from prompts until the agent gives control back, and all turns of one `run`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

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
from hookagent.loop.ending import after_failure, after_interrupt, await_stray, complete, is_stray, refused
from hookagent.loop.messages_in import accept_queued, accept_user, store_added
from hookagent.loop.model_call import call_model
from hookagent.loop.replies import before_end, store_reply, take_reply
from hookagent.loop.run import End, Run
from hookagent.loop.tool_round import close_open_calls, resume_round, tool_round
from hookagent.messages import AssistantMessage, UserMessage
from hookagent.requests import Request
from hookagent.usage import NO_USAGE

# A run whose model and tools never wait must not keep the event loop for itself: others want to abort it.
_ROUNDS_PER_BREATH = 100


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
        if not prompts or run.errors:
            break
        if run.failure is not None:
            # What the turn came to stands; what is queued waits for a run in which nothing has failed.
            error = run.failure
            break
    run.emit(AgentEnd, end.status, end.answer, run.usage)
    run.list_failure()
    await await_stray(run)
    return Finished(end, run.interrupt or error)


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
        run.fail_outer(failure)
        end = await after_failure(run, failure)
    except (asyncio.CancelledError, KeyboardInterrupt) as stop:
        # Only a cancellation of the run's own task gets here: everything else is waited for elsewhere.
        if run.failure is not None and is_stray(stop):
            error, run.failure = run.failure, None
            end = await after_failure(run, error)
        else:
            end, error = await after_interrupt(run, stop)
    except BaseException as bug:
        error = bug
        end = await after_failure(run, bug)
    await await_stray(run)
    end = refused(run, end)
    run.not_stored.extend(run.unread)
    await complete(run, end)
    run.emit(TurnEnd, end.status, end.answer, state.turn_usage)
    return Finished(end, run.interrupt or error)


async def _body(run: Run, prompts: Sequence[UserMessage]) -> End:
    """The work of a turn: prompts in, then iterations until the model answers without calls."""
    if not run.state.started:
        run.state.started = True
        if run.hooks.on_session_start:
            await _start_session(run)
    end: End | None = None
    if run.state.transcript.open_round is not None:
        end = await resume_round(run)
        if end is not None and end.status != "waiting":
            return end
    for message in prompts:
        stopped = await accept_user(run, message)
        if stopped is not None:
            return stopped
    if end is None and prompts and (answer := _last_answer(run)) is not None:
        return End("completed", "", answer)  # all that was queued has been taken back
    while end is None:
        end = await _iteration(run)
    return end


async def _start_session(run: Run) -> None:
    """Let every plugin begin, also after another one failed: all are told how the turn ends, and later of more turns.

    Raises the first failure; the others are listed with the run's errors.
    """
    failure: PluginError | None = None
    try:
        for implementation in run.hooks.on_session_start:
            try:
                await run.dispatch.one(implementation)
            except PluginError as raised:
                if failure is None:
                    failure = raised
                else:
                    run.errors.append(str(raised))
        if failure is not None:
            raise failure
    finally:
        del failure  # it knows this frame, and would keep itself alive


async def _iteration(run: Run) -> End | None:
    state = run.state
    if run.failure is not None:
        run.check_failure()
    if not run.iterations % _ROUNDS_PER_BREATH:
        await asyncio.sleep(0)
    if run.abort.aborted:
        return run.abort_end()
    if run.halted is not None:
        return run.halted
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
    if run.goes_on_for_queue:
        run.goes_on_for_queue = False
        answer = _last_answer(run)
        if answer is not None:  # what was queued has been taken back
            return await before_end(run, answer)
    run.iterations += 1
    run.budget.begin_iteration()
    state.iteration += 1
    unsaid = run.asks_unseen and not (run.emitter.heard or run.emitter.relayed)  # the journal keeps none of the three
    if not unsaid:
        run.emit(IterationStart, state.limits.max_iterations)
    if run.hooks.before_llm:
        end = await _before_llm(run)
        if end is not None:
            return end
    called = await call_model(run, unsaid)
    if isinstance(called, End):
        return called
    request, reply = called
    added: list[UserMessage] = []
    if run.hooks.after_llm:
        reply, added = await _after_llm(run, request, reply)
    if run.abort.aborted:
        return run.abort_end()
    stored = store_reply(run, reply)
    if stored is None or added or run.failure is not None or not (calls := stored.tool_calls):
        return await take_reply(run, reply, stored, added)
    return await tool_round(run, calls, stored.stop_reason)


def _last_answer(run: Run) -> str | None:
    """The text of the answer behind which nothing stands that the model could be asked about; None: something does."""
    last = run.state.transcript[-1]  # asked only where an answer was the last thing before the queue was looked at
    return last.text if isinstance(last, AssistantMessage) else None


async def _before_llm(run: Run) -> End | None:
    """Ask `before_llm`; an end when a plugin stopped the run, or when it was aborted: then nothing is to be shaped."""
    for implementation, answer in run.dispatch.voices(run.hooks.before_llm, [run.state.iteration]):
        returned = await answer
        if returned is None:
            continue
        store_added(run, returned.messages)
        if returned.verdict is not None:
            return End("stopped", f"'{implementation.plugin}' stopped the run: {returned.verdict.reason}")
    return run.abort_end() if run.abort.aborted else None


async def _limit(run: Run, exceeded: Exceeded) -> End:
    """End at a limit; by option the model is asked once more, with tools switched off, how far it got."""
    end = End("limit", exceeded.text, exceeded.text, exceeded.limit)
    if not run.state.limits.closing_answer:
        return end
    run.closing = True
    run.state.iteration += 1  # a model call like any other to hooks, though no iteration that counts
    stopped = await _before_llm(run)
    if stopped is not None:
        return stopped
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
    values: list[Any] = [request, reply]
    for implementation, answer in run.dispatch.voices(run.hooks.after_llm, values):
        try:
            returned = await answer
        except (PluginError, KeyboardInterrupt):
            store_reply(run, reply)  # the value from before stays; what it calls is closed as not run
            raise
        if returned is None:
            continue
        if returned.replacement is not None and returned.replacement != reply:
            replaced = returned.replacement.without_provider_parts()
            # That the output limit cut it stays true: none of its calls may run.
            reply = replace(replaced, stop_reason="length") if reply.stop_reason == "length" else replaced
            values[1] = reply
            run.emit(MessageReplaced, f"replaced by '{implementation.plugin}'")
        added.extend(returned.messages)
    return reply, added
