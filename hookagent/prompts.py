"""What a prompt may be: text, a message, or a list of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hookagent.errors import MisuseError
from hookagent.messages import UserMessage, Via
from hookagent.tools.text import clean_text

Prompt = str | UserMessage | Sequence[str | UserMessage]


def as_messages(prompt: Prompt, via: Via) -> tuple[UserMessage, ...]:
    """Turn a prompt into messages, with text that can be sent. Raises `MisuseError` when it is empty or blank."""
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
