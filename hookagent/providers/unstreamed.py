"""Answers that are no stream though one was asked for: whole replies of simple servers, and errors with status 200."""

from __future__ import annotations

import json
from typing import Any

from hookagent.errors import ProviderError
from hookagent.providers.failures import masked, reported_error


async def unstreamed_body(events: Any, provider: str, model: str) -> dict[str, Any] | None:
    """The JSON object that came instead of a stream, or None where it is a stream; `events` is an SDK's stream.

    Raises `ProviderError`: by its words where the object is an error, `response` where it is no JSON object.
    """
    content_type = events.response.headers.get("content-type", "")
    if "json" not in content_type and not content_type.startswith("text/html"):
        return None
    text = (await events.response.aread()).decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise ProviderError(
            "response", provider, f"the reply is no stream and no JSON object; received: {masked(text)}"
        )
    if value.get("error"):
        raise reported_error(value, provider, model)
    return value


def unreadable(body: dict[str, Any], provider: str) -> ProviderError:
    """The error for an object that is neither a stream nor a reply that can be read."""
    received = masked(json.dumps(body, ensure_ascii=False, default=str))
    return ProviderError("response", provider, f"the reply is no stream; received: {received}")
