"""A reply that came: stored with ids of its own, then acted on: its calls run, the turn goes on, or it ends."""

from __future__ import annotations

import secrets
from dataclasses import replace

from hookagent.events import ErrorEvent, MessageEnd
from hookagent.loop.messages_in import accept_queued, store_added
from hookagent.loop.run import BEFORE_COMPLETE_AT_MOST, End, Run
from hookagent.loop.tool_round import tool_round
from hookagent.messages import AssistantMessage, ToolCall, UserMessage


async def take_reply(
    run: Run, reply: AssistantMessage, stored: AssistantMessage | None, added: list[UserMessage]
) -> End | None:
    """Act on a reply that is `stored` now, if there was anything to store: run its calls, go on, or end the turn."""
    if stored is None:
        detail = f" ({reply.stop_detail})" if reply.stop_detail else ""
        return await _empty_reply(run, f"the model gave an empty reply; stop reason: {reply.stop_reason}{detail}")
    if added:
        store_added(run, added)
    if run.failure is not None:
        run.check_failure()
    if stored.tool_calls:
        return await tool_round(run, stored.tool_calls, stored.stop_reason)
    text = stored.text
    if reply.stop_reason == "pause":
        return None
    if reply.stop_reason == "length":
        reason = "the answer was cut by the output limit; raise model_settings.max_output_tokens"
        return End("limit", reason, text, "model_settings.max_output_tokens")
    if reply.stop_reason in ("filtered", "refusal", "too_long"):
        detail = f": {reply.stop_detail}" if reply.stop_detail else ""
        return End("failed", f"the model stopped ({reply.stop_reason}{detail})", text)
    return await before_end(run, text)


def store_reply(run: Run, reply: AssistantMessage) -> AssistantMessage | None:
    """Store a reply with call ids of its own, as which it is returned; None: there is nothing in it to be stored."""
    calls = reply.tool_calls
    if not calls and not reply.text.strip() and reply.stop_reason != "pause":
        return None
    state = run.state
    if len(calls) == 1 and calls[0].id and calls[0].id not in state.used_ids:
        state.used_ids.add(calls[0].id)  # the usual case, and the cheap one
    elif calls:
        reply = _with_fresh_ids(reply, state.used_ids)
    grown = state.transcript.with_reply(reply)
    if calls:
        state.transcript = grown  # a round is open, and no block is new
    else:
        state.grow(grown)
    run.emit(MessageEnd, reply)
    return reply


async def _empty_reply(run: Run, reason: str) -> End:
    error = RuntimeError(reason)
    run.emit(ErrorEvent, "model", run.box.provider.name, reason)
    for implementation in run.hooks.on_error:
        await run.dispatch.one(implementation, error, None)
    return End("failed", reason)


async def before_end(run: Run, answer: str) -> End | None:
    """A reply without calls is stored: steering, `before_complete`, follow-up, in this order; else the turn ends."""
    if run.box.peek_steering():
        run.goes_on_for_queue = True
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
    if run.abort.aborted:
        return run.abort_end()
    if go_on:
        return None
    follow_up = run.box.peek_follow_up()
    if follow_up:
        run.goes_on_for_queue = True
        return await accept_queued(run, follow_up)
    return End("completed", "", answer)


def _with_fresh_ids(reply: AssistantMessage, used: set[str]) -> AssistantMessage:
    """Give calls whose id is missing or was used before in this session a fresh one."""
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
