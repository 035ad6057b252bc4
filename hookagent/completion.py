"""One question, one answer, without an agent: a text, or a pydantic model by the vendor's own structured output."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

from hookagent.clock import SYSTEM_CLOCK, Clock
from hookagent.errors import MisuseError, ProviderError, ProviderErrorKind
from hookagent.frozen import FrozenDict
from hookagent.messages import AssistantMessage, UserMessage
from hookagent.providers.base import Provider
from hookagent.providers.keys import assert_ready
from hookagent.providers.retry import ask_with_retries
from hookagent.providers.routing import default_model, provider_for
from hookagent.requests import BlockView, Request
from hookagent.transcript import Transcript
from hookagent.usage import Usage

if TYPE_CHECKING:
    from pydantic import BaseModel

Output = TypeVar("Output", bound="BaseModel")
_WHOLE = frozenset({"end", "stop_sequence"})
_CUT = frozenset({"length", "refusal", "filtered", "too_long", "pause"})


class Completion(NamedTuple):
    """An answer and what it used: `value` is the text, or the model that was asked for."""

    value: Any
    usage: Usage
    message: AssistantMessage


async def complete_with_usage(
    prompt: str,
    *,
    output: type[BaseModel] | None = None,
    system: str | None = None,
    model: str | Provider | None = None,
    settings: Mapping[str, Any] | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> Completion:
    """Ask once and say what it used, so that a plugin can have it booked; see `complete` for the arguments."""
    provider = provider_for(model if model is not None else default_model())
    assert_ready(provider)
    request = Request(
        BlockView(Transcript([UserMessage(prompt)])),
        system=system or "",
        settings=FrozenDict(settings or {}),
        protected=(0,),
        output_schema=None if output is None else output.model_json_schema(),
        output_name="output" if output is None else output.__name__[:64],
    )
    reply = await ask_with_retries(provider, request, clock=clock)
    assert reply is not None  # nobody hears it who could end it
    if reply.stop_reason in _CUT or (
        reply.stop_reason not in _WHOLE and (output is not None or not reply.text.strip())
    ):
        raise _unfinished(provider, reply)
    value: Any = reply.text if output is None else _validated(output, reply, provider)
    return Completion(value, reply.usage, reply)


@overload
async def complete(
    prompt: str,
    *,
    output: None = None,
    system: str | None = None,
    model: str | Provider | None = None,
    settings: Mapping[str, Any] | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> str: ...
@overload
async def complete(
    prompt: str,
    *,
    output: type[Output],
    system: str | None = None,
    model: str | Provider | None = None,
    settings: Mapping[str, Any] | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> Output: ...
async def complete(
    prompt: str,
    *,
    output: type[Any] | None = None,
    system: str | None = None,
    model: str | Provider | None = None,
    settings: Mapping[str, Any] | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> Any:
    """Ask a model once; gives its text, or an instance of `output` (a pydantic model class).

    `model` is a name such as "anthropic:claude-sonnet-5" or a provider, by default what a key in the environment
    decides; `settings` are as `model_settings`. Failed calls are tried again by kind of error.

    Raises `ProviderError` when the model's side fails, and (`response`) when the answer is cut, refused or does not
    fit `output`; `ConfigurationError` when no model can be found, or the one that is named has no key;
    `RequestRefusedError` for a blank prompt.
    """
    completion = await complete_with_usage(
        prompt, output=output, system=system, model=model, settings=settings, clock=clock
    )
    return completion.value


def complete_sync(
    prompt: str,
    *,
    output: type[Any] | None = None,
    system: str | None = None,
    model: str | Provider | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Any:
    """`complete`, for code without an event loop. Raises `MisuseError` where one is running."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(complete(prompt, output=output, system=system, model=model, settings=settings))
    raise MisuseError("complete_sync was called in a running event loop; use 'await complete(...)' there")


def _validated(output: type[BaseModel], reply: AssistantMessage, provider: Provider) -> BaseModel:
    from pydantic import ValidationError

    text = reply.text
    try:
        return output.model_validate_json(text)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(str(step) for step in problem['loc']) or 'answer'}: {problem['msg']}"
            for problem in error.errors(include_url=False, include_input=False)[:5]
        )
        shown = text if len(text) <= 300 else text[:300] + "…"
        raise ProviderError(
            "response",
            provider.name,
            f"the answer does not fit '{output.__name__}': {problems}; received: {shown}",
            usage=reply.usage,
        ) from None


def _unfinished(provider: Provider, reply: AssistantMessage) -> ProviderError:
    reason = reply.stop_reason
    if reason == "length":
        what = "the answer was cut by the output limit; raise the model setting 'max_output_tokens'"
    elif reason in ("refusal", "filtered"):
        what = f"the model's side refused to answer{': ' + reply.stop_detail if reply.stop_detail else ''}"
    else:
        what = (
            f"the answer stopped for the reason '{reason}'{' (' + reply.stop_detail + ')' if reply.stop_detail else ''}"
        )
    kind: ProviderErrorKind = "filtered" if reason in ("refusal", "filtered") else "response"
    return ProviderError(kind, provider.name, what, usage=reply.usage)
