"""What a prompt may be: text, a message, or a list of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hookagent.errors import MisuseError
from hookagent.messages import Image, UserMessage, Via
from hookagent.tools.text import clean_text

Prompt = str | UserMessage | Sequence[str | UserMessage]


def as_messages(prompt: Prompt, via: Via, images: Sequence[Image] = ()) -> tuple[UserMessage, ...]:
    """Turn a prompt into messages, with text that can be sent; `images` go with a text.

    Raises `MisuseError` when it is empty or blank, or when images are given beside messages that have their own.
    """
    if images:
        if not isinstance(prompt, str):
            raise MisuseError("images go with a text; put them into the UserMessage")
        prompt = UserMessage(prompt, tuple(images))
    if not isinstance(prompt, str | UserMessage | Sequence):
        raise MisuseError(f"a prompt is text, a UserMessage, or a list of them, not a {type(prompt).__name__}")
    given = (prompt,) if isinstance(prompt, str | UserMessage) else tuple(prompt)
    if not given:
        raise MisuseError("the prompt is empty; give text, a UserMessage, or a list of them")
    messages = []
    for one in given:
        if isinstance(one, str):
            message = UserMessage(clean_text(one), via=via)
        elif isinstance(one, UserMessage):
            message = replace(one, text=clean_text(one.text), origin=None, via=via)
        else:
            raise MisuseError(f"a prompt is text or a UserMessage, not a {type(one).__name__}")
        if message.blank:
            raise MisuseError("the prompt is empty; give text, a UserMessage, or a list of them")
        messages.append(message)
    return tuple(messages)
