"""What a prompt may be: text, a message, or a list of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hookagent.errors import MisuseError
from hookagent.messages import AssistantMessage, Image, UserMessage, Via
from hookagent.tools.text import clean_text
from hookagent.transcript import Transcript

if TYPE_CHECKING:
    from hookagent.queues import TwoQueues

Prompt = str | UserMessage | Sequence[str | UserMessage]


def as_messages(prompt: Prompt, via: Via, images: Sequence[Image] = ()) -> tuple[UserMessage, ...]:
    """Turn a prompt into messages, with text that can be sent; `images` go with a text.

    Raises `MisuseError` when it is empty or blank, or when images are given beside messages that have their own.
    """
    if images:
        if not isinstance(prompt, str):
            raise MisuseError("images go with a text; put them into the UserMessage")
        prompt = UserMessage(prompt, tuple(images))
    if not isinstance(prompt, str | UserMessage | Sequence) or isinstance(prompt, bytes | bytearray):
        raise MisuseError(f"a prompt is text, a UserMessage, or a list of them, not a {type(prompt).__name__}")
    given = (prompt,) if isinstance(prompt, str | UserMessage) else tuple(prompt)
    if not given:
        raise MisuseError("the prompt is empty; give text, a UserMessage, or a list of them")
    messages = []
    for one in given:
        if isinstance(one, str):
            message = UserMessage(clean_text(one), via=via)
        elif isinstance(one, UserMessage):
            # A list would be refused to the plugin that gives the message back with another text.
            message = replace(one, text=clean_text(one.text), images=tuple(one.images), origin=None, via=via)
        else:
            raise MisuseError(f"a prompt is text or a UserMessage, not a {type(one).__name__}")
        for image in message.images:
            if not isinstance(image, Image) or not isinstance(image.data, str) or not isinstance(image.media_type, str):
                raise MisuseError(
                    "an image is an Image(data, media_type) of two texts; make data of bytes with "
                    "base64.b64encode(...).decode()"
                )
        if message.blank:
            raise MisuseError("the prompt is empty; give text, a UserMessage, or a list of them")
        messages.append(message)
    return tuple(messages)


def prompts_to_continue(transcript: Transcript, queues: TwoQueues) -> tuple[UserMessage, ...]:
    """What a run that goes on without a prompt begins with: nothing, or, behind an answer, what is queued.

    Raises `MisuseError` when there is nothing to continue from.
    """
    if transcript.open_round is not None:
        return ()
    if not len(transcript):
        raise MisuseError("continue_(): the session is empty; call run(prompt)")
    last = transcript[-1]
    if not isinstance(last, AssistantMessage) or last.stop_reason == "pause":
        return ()
    queued = queues.peek_steering() or queues.peek_follow_up()
    if not queued:
        raise MisuseError("continue_(): the last message is an answer and nothing is queued; call run(prompt)")
    return queued
