"""The provider `local`: a request becomes a question to the embedded model, and its picks become tool calls."""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncIterator, Mapping
from typing import Any

from hookagent import (
    AssistantMessage,
    ConfigurationError,
    ProviderError,
    Request,
    TextPart,
    ToolCall,
    UserMessage,
    freeze,
)
from hookagent_local.answers import answer_from_results, no_tool_answer
from hookagent_local.conversation import Task, read_task
from hookagent_local.engine import CONTEXT_WINDOW, ENGINE, PROVIDER, Reading, find_engine
from hookagent_local.schemas import schemas_for_engine

_MOST_TOKENS = 256
"""What the model may write for one request: enough for six calls. Where it needs more, it goes round in circles."""
_MOST_CHARACTERS = 4 * CONTEXT_WINDOW
"""What one request may say; the engine reads on in a longer one, and answers with nonsense."""


class LocalProvider:
    """A tiny tool-calling model inside this process. It sends nothing anywhere and fetches nothing.

    It reads what was asked last, and the tools; not the system prompt, earlier turns or plugins' notes, which it
    could make nothing of. When the results are in, the answer is made of them. A request that no tool fits is
    answered by saying so, with the stop reason `refusal`.

    `model` is empty: there is one model only. Raises `ConfigurationError` for another name, and where the engine is
    not installed; the engine itself is imported and loaded at the first request.
    """

    name = PROVIDER
    wire: str | None = None

    def __init__(self, model: str = "") -> None:
        if model.strip():
            raise ConfigurationError(
                f"model '{PROVIDER}:{model}': there is one embedded model only; write '{PROVIDER}'"
            )
        find_engine()
        self.model = ""
        self.context_window: int | None = CONTEXT_WINDOW
        self.notice = (
            "a tiny model inside this process: it picks a tool and fills in arguments, right about half of the time; "
            "it writes no prose, so the answer is made of tool results"
        )

    async def stream(self, request: Request) -> AsyncIterator[AssistantMessage]:
        """Answer in one piece: calls, or a text made of results.

        Raises `ProviderError`: `unsupported_setting` for settings, images and answers in a given shape, `too_long`
        for more text or tools than the model can read, `configuration` where the engine cannot be loaded, `response`
        where it fails.
        """
        max_tokens = _output_limit(request)
        task = read_task(request.blocks)
        if not task.asked:
            yield _text(answer_from_results(task.rounds) if task.rounds else task.told)
            return
        reading = await _read(request, _question(task), max_tokens)
        if reading.calls:
            parts = tuple(_tool_call(name, arguments) for name, arguments in reading.calls)
            yield AssistantMessage(parts, "tool_calls", provider=PROVIDER)
        else:
            yield _without_calls(request, task, reading, max_tokens)


def _output_limit(request: Request) -> int:
    if request.output_schema is not None:
        raise _refused("an answer in a given shape (an output schema)", "it writes no answers of its own")
    limit: int | None = None
    for name, value in request.settings.items():
        if value is None or (isinstance(value, Mapping) and (name != PROVIDER or not value)):
            # Unset, or what stands under another vendor's name.
            continue
        if name != "max_output_tokens":
            raise _refused(f"model setting '{name}'", "'max_output_tokens' is the only one that it knows")
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise _refused(f"model setting 'max_output_tokens' with the value {value!r}", "it counts tokens, from 1")
        limit = value
    return _MOST_TOKENS if limit is None else min(limit, _MOST_TOKENS)


def _question(task: Task) -> str:
    if any(message.images for message in task.asked):
        raise _refused("an image", "it reads text only; describe the image, or take a model that sees")
    text = "\n".join(_clean(message) for message in task.asked)
    if len(text) > _MOST_CHARACTERS:
        raise ProviderError(
            "too_long",
            PROVIDER,
            f"the request has {len(text):,} characters, and the embedded model reads {_MOST_CHARACTERS:,} at most; "
            "say what to do in a sentence, and leave the text in a file",
            window=CONTEXT_WINDOW,
        )
    return text


def _clean(message: UserMessage) -> str:
    """The text as the engine can take it: UTF-8 that holds no end-of-string mark."""
    return message.text.encode("utf-8", "replace").decode("utf-8").replace("\0", " ")


async def _read(request: Request, question: str, max_tokens: int) -> Reading:
    if not request.tools or request.tool_choice == "none":
        return Reading((), ())
    return await ENGINE.read(question, schemas_for_engine(request.tools), max_tokens)


def _without_calls(request: Request, task: Task, reading: Reading, max_tokens: int) -> AssistantMessage:
    if reading.cut and max_tokens < _MOST_TOKENS:
        return AssistantMessage(
            (TextPart(f"The embedded model was cut off by max_output_tokens ({max_tokens}) before it made a call."),),
            "length",
            provider=PROVIDER,
        )
    tools = request.tools if request.tool_choice == "auto" else ()
    text = no_tool_answer(tools, reading.guesses)
    if task.rounds:
        # A message in between that came to nothing does not take away what was found before it.
        return _text(f"{answer_from_results(task.rounds)}\n\n{text}")
    return AssistantMessage((TextPart(text),), "refusal", provider=PROVIDER, stop_detail="no tool fits the request")


def _text(text: str) -> AssistantMessage:
    return AssistantMessage((TextPart(text),), "end", provider=PROVIDER)


def _tool_call(name: str, arguments: Any) -> ToolCall:
    call_id = "call_" + secrets.token_hex(12)
    if isinstance(arguments, dict):
        return ToolCall(call_id, name, freeze(arguments))
    raw = json.dumps(arguments, ensure_ascii=False)
    return ToolCall(call_id, name, None, raw, "the arguments are not a JSON object")


def _refused(what: str, why: str) -> ProviderError:
    return ProviderError("unsupported_setting", PROVIDER, f"{what} is not taken by the embedded model: {why}")
