"""Messages on their way into the transcript: what people say, and what plugins add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hookagent.errors import PluginError
from hookagent.events import MessageEnd, MessageStart
from hookagent.loop.run import End, Run
from hookagent.messages import UserMessage
from hookagent.tools.text import clean_text


def store_user(run: Run, message: UserMessage) -> None:
    """Store one message: at the end, or, while a round is open, held behind it. Its text is made valid."""
    text = clean_text(message.text)
    if text != message.text:
        message = replace(message, text=text)
    run.emit(MessageStart, "user")
    state = run.state
    state.grow(state.transcript.with_user(message))
    run.emit(MessageEnd, message)


def store_added(run: Run, messages: Sequence[UserMessage]) -> None:
    """Store what plugins added; after an abort it is dropped, and beside the transcript there is no place for it."""
    if not messages or run.abort.aborted or run.detached:
        return
    for message in messages:
        store_user(run, message)


async def accept_user(run: Run, message: UserMessage) -> End | None:
    """Bring in what a person said: `after_user_input`, then store it and what was added behind it.

    Gives an end when a plugin stopped the run; the message is then not stored but in `run.not_stored`,
    as when a plugin failed (`PluginError` is passed on). A queued one that was taken back meanwhile is not
    stored either.
    """
    original = message
    added: list[UserMessage] = []
    for implementation in run.hooks.after_user_input:
        try:
            returned = await run.dispatch.one(implementation, message)
        except PluginError:
            _refuse(run, original)
            raise
        if returned is None:
            continue
        if returned.verdict is not None:
            _refuse(run, original)
            return End("stopped", f"'{implementation.plugin}' stopped the run: {returned.verdict.reason}")
        if returned.replacement is not None:
            # That it is a person's, and how it came, stays true, whatever the plugin wrote there.
            message = replace(returned.replacement, origin=None, via=original.via)
        added.extend(returned.messages)
    if not run.box.still_wanted(original):
        return None
    if message.via == "prompt":
        run.state.user_prompt = message.text
    store_user(run, message)
    _let_go(run, original)
    store_added(run, added)
    return None


def _refuse(run: Run, message: UserMessage) -> None:
    run.not_stored.append(message)
    _let_go(run, message)


def _let_go(run: Run, message: UserMessage) -> None:
    """It is stored, or reported as not stored: nobody else has to keep it any more."""
    run.box.take(message)
    run.unread = [one for one in run.unread if one is not message]


async def accept_queued(run: Run, messages: tuple[UserMessage, ...]) -> End | None:
    """Bring in queued messages one after the other; each leaves its queue once it is stored."""
    for message in messages:
        if run.abort.aborted:
            return run.abort_end()
        if not run.box.still_wanted(message):
            continue
        end = await accept_user(run, message)
        if end is not None:
            return end
    return None
