"""From a Request to the body of an Anthropic Messages request; its turns are made in `turns`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hookagent.frozen import thaw
from hookagent.providers.anthropic_messages.turns import CACHE_MARK, mark_tail, stored_turns, with_tail
from hookagent.providers.encoding import sendable
from hookagent.providers.json_schema import closed_schema
from hookagent.providers.settings import (
    ModelSettings,
    add_extras,
    claude_takes_effort,
    claude_takes_temperature,
    read_settings,
    refuse_setting,
)
from hookagent.providers.tool_lists import PerTools
from hookagent.providers.wire.message import WireMessage
from hookagent.requests import Request

if TYPE_CHECKING:
    from hookagent.tools.tool import Tool

PROVIDER = "anthropic"
_SAMPLING = frozenset({"temperature", "top_p", "top_k"})
_VERSION_WITH_SAMPLING = "2023-06-01"
_DEFAULT_OUTPUT_TOKENS = 16384
"""What a reply may take when nobody set a limit (the API wants one), thinking included."""


def encode(request: Request, model: str) -> dict[str, Any]:
    """The body to send, without `stream`; system, tools and tail carry the marks for the vendor's prompt cache.

    Raises `ProviderError` (`unsupported_setting`) for a setting that the model does not take.
    """
    settings = read_settings(request.settings, PROVIDER)
    stored = stored_turns(request, model)
    body: dict[str, Any] = {"model": model, "max_tokens": _output_limit(settings, model)}
    if request.system.strip():
        body["system"] = [{"type": "text", "text": sendable(request.system), "cache_control": CACHE_MARK}]
    body["messages"] = messages = with_tail(mark_tail(stored), request)
    tools = request.tools
    if tools:
        body["tools"] = _TOOLS(tools)
        if request.tool_choice == "none":
            body["tool_choice"] = {"type": "none"}
    else:
        called = _called_names(messages)
        if called:
            # Calls in the history want declared tools, also when none is offered any more.
            body["tools"] = [_undescribed(name) for name in called]
            body["tool_choice"] = {"type": "none"}
    _add_settings(body, settings, request, model)
    thinking = body.get("thinking")
    if isinstance(thinking, dict) and thinking.get("type") == "enabled" and not _began_with_thinking(messages):
        # Within a round that began without it (another model, or a reply that a plugin changed) it cannot be on.
        del body["thinking"]
    return body


def _began_with_thinking(messages: list[WireMessage]) -> bool:
    """Whether the newest assistant turn begins with thinking, where its calls were just answered."""
    last = next((turn for turn in reversed(messages) if turn["role"] == "assistant"), None)
    if last is None or all(block["type"] != "tool_use" for block in last["content"]):
        return True
    return last["content"][0]["type"] in ("thinking", "redacted_thinking")


def _called_names(messages: list[WireMessage]) -> list[str]:
    return sorted({b["name"] for m in messages for b in m["content"] if b["type"] == "tool_use"})


def _undescribed(name: str) -> dict[str, Any]:
    return {"name": name, "description": "Not offered any more.", "input_schema": {"type": "object"}}


def _encode_tools(tools: tuple[Tool, ...]) -> list[dict[str, Any]]:
    encoded = [
        {"name": t.name, "description": sendable(t.description), "input_schema": thaw(t.parameters)} for t in tools
    ]
    encoded[-1]["cache_control"] = CACHE_MARK
    return encoded


_TOOLS = PerTools(_encode_tools)


def _output_limit(settings: ModelSettings, model: str) -> int:
    if settings.max_output_tokens is not None:
        return settings.max_output_tokens
    if "claude-3-5" in model or "claude-3-7" in model:
        return 8192
    return 4096 if "claude-3" in model else _DEFAULT_OUTPUT_TOKENS


def _add_settings(body: dict[str, Any], settings: ModelSettings, request: Request, model: str) -> None:
    if settings.temperature is not None:
        if not claude_takes_temperature(model):
            raise refuse_setting(PROVIDER, "temperature", model, "it has no sampling settings; leave it out")
        body["temperature"] = settings.temperature
    if settings.seed is not None:
        raise refuse_setting(PROVIDER, "seed", model, "the Messages API has no seed; leave it out")
    if settings.stop:
        body["stop_sequences"] = list(settings.stop)
    output: dict[str, Any] = {}
    if settings.effort is not None:
        if settings.effort in ("none", "minimal") or not claude_takes_effort(model):
            takes = "low, medium, high" if claude_takes_effort(model) else "no effort; leave it out"
            raise refuse_setting(PROVIDER, "effort", model, f"it takes {takes}")
        output["effort"] = settings.effort
    if request.output_schema is not None:
        output["format"] = {
            "type": "json_schema",
            "schema": closed_schema(request.output_schema, all_required=False),
        }
    if output:
        body["output_config"] = output
    add_extras(body, settings.extras, PROVIDER)
    if not _SAMPLING.isdisjoint(body):
        # The version that the SDK sends by default has no sampling settings, for no model.
        body["extra_headers"] = {"anthropic-version": _VERSION_WITH_SAMPLING, **body.get("extra_headers", {})}
