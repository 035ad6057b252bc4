"""From what SDKs and their HTTP library raise to `ProviderError`, by kind.

The two SDKs share a shape (`status_code`, `body`, `response`), so one table of kinds serves both; nothing of them is
imported here. Texts from outside are bounded, and keys in them are masked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hookagent.errors import ProviderError, ProviderErrorKind
from hookagent.masking import MASK, masked_shapes
from hookagent.providers.refusals import find_unsupported, find_window

_BY_WORD: Mapping[str, ProviderErrorKind] = {
    "overloaded_error": "overloaded",
    "overloaded": "overloaded",
    "engine_overloaded": "overloaded",
    "slow_down": "overloaded",
    "rate_limit_error": "rate_limit",
    "rate_limit_exceeded": "rate_limit",
    "requests": "rate_limit",
    "tokens": "rate_limit",
    "api_error": "server",
    "server_error": "server",
    "internal_server_error": "server",
    "vector_store_timeout": "server",
    "timeout_error": "timeout",
    "authentication_error": "authentication",
    "permission_error": "authentication",
    "invalid_api_key": "authentication",
    "not_found_error": "not_found",
    "model_not_found": "not_found",
    "request_too_large": "too_long",
    "context_length_exceeded": "too_long",
    "exceed_context_size_error": "too_long",
    "content_filter": "filtered",
    "content_policy_violation": "filtered",
    "bio_policy": "filtered",
    "misalignment_policy_violation": "filtered",
    "image_content_policy_violation": "filtered",
    "invalid_request_error": "invalid_request",
    "invalid_prompt": "invalid_request",
}
_QUOTA_WORDS = frozenset(
    {
        "insufficient_quota", "billing_error", "billing_hard_limit_reached", "billing_not_active",
        "enforced_spend_limit_reached", "contract_spend_limit_reached", "linked_organization_spend_limit_reached",
        "linked_organization_billing_unavailable",
    }
)  # fmt: skip
_BY_STATUS: Mapping[int, ProviderErrorKind] = {
    400: "invalid_request",
    401: "authentication",
    402: "quota",
    403: "authentication",
    404: "not_found",
    408: "timeout",
    409: "server",
    413: "too_long",
    422: "invalid_request",
    429: "rate_limit",
    503: "overloaded",
    504: "timeout",
    529: "overloaded",
}
# Vendors repeat the key that they refuse, its middle as stars.
_KEY_SHAPE = re.compile(r"\b(sk|pk|key)([-_ ])[A-Za-z0-9_*.-]{6,}")
_SHOWN = 1000
"""How much of a foreign text an error shows, in characters."""


def provider_error(
    error: Exception, provider: str, model: str, *, key: str | None = None, key_name: str = "", url: str = ""
) -> ProviderError:
    """The `ProviderError` for what an SDK raised; one that is a `ProviderError` already is given back.

    `key` is masked wherever it shows up; `key_name` is the environment variable to name when it is refused, `url`
    the address to name when it cannot be reached.
    """
    if isinstance(error, ProviderError):
        return error
    response = getattr(error, "response", None)
    status = getattr(error, "status_code", None)
    body = getattr(error, "body", None)
    if status is None and body is None:
        return _transport_error(error, provider, url, key)
    # An error inside a stream that began with 200 is told by its type alone.
    status = status if isinstance(status, int) and status >= 400 else None
    return reported_error(
        body,
        provider,
        model,
        status=status,
        retry_after=wait_asked_for(getattr(response, "headers", None) or {}),
        fallback=str(error),
        key=key,
        key_name=key_name,
    )


def reported_error(
    body: object,
    provider: str,
    model: str,
    *,
    status: int | None = None,
    retry_after: float | None = None,
    fallback: str = "",
    key: str | None = None,
    key_name: str = "",
) -> ProviderError:
    """The `ProviderError` for an error body (or an error object inside a stream), by its words, then by its status."""
    detail = _error_object(body)
    message = masked(str(detail.get("message") or fallback or body or "no reason given"), key)
    words = [str(detail[name]) for name in ("code", "type") if isinstance(detail.get(name), str | int)]
    details = detail.get("details")
    if isinstance(details, Mapping) and isinstance(details.get("error_code"), str):
        words.insert(0, details["error_code"])
    said = f"{message} ({status})" if status else message
    if any(word in _QUOTA_WORDS for word in words) or status == 402:
        return ProviderError(
            "quota", provider, f"the account's quota is used up: {said}; look at its billing", status=status
        )
    window = find_window(message, detail)
    kind: ProviderErrorKind | None = "too_long" if window is not None else None
    kind = kind or next((_BY_WORD[word] for word in words if word in _BY_WORD), None)
    if kind in ("invalid_request", "server", None):
        # Words that say little: the status may say more.
        by_status: ProviderErrorKind | None = "invalid_request" if status and status < 500 else None
        kind = _BY_STATUS.get(status or 0) or by_status or kind or "server"
    if kind == "invalid_request":
        setting = find_unsupported(message, detail)
        if setting:
            return ProviderError(
                "unsupported_setting",
                provider,
                f"model setting '{setting}' is not taken by '{model}': {said}",
                status=status,
            )
    return ProviderError(
        kind,
        provider,
        _sentence(kind, model, said, key_name),
        status=status,
        retry_after=retry_after,
        window=window or None,
    )


def masked(text: str, key: str | None = None) -> str:
    """`text`, bounded and in one line, without `key` and without anything that looks like a key."""
    if key and len(key) >= 4:
        text = text.replace(key, MASK)
    text = " ".join(masked_shapes(_KEY_SHAPE.sub(rf"\1\2{MASK}", text)).split())
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text)} characters)"


def wait_asked_for(headers: Mapping[str, str]) -> float | None:
    """The wait that a response's headers ask for, in seconds; None where they ask for none that makes sense."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000.0
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None or not text:
        return seconds
    from email.utils import parsedate_to_datetime

    try:
        # Against the server's own clock, which its answer carries: ours may be off.
        until, now = parsedate_to_datetime(text), parsedate_to_datetime(headers.get("date", ""))
        return max((until - now).total_seconds(), 0.0)
    except (TypeError, ValueError):
        return None


def _number(text: str | None) -> float | None:
    try:
        number = float(text) if text else None
    except ValueError:
        return None
    return number if number is not None and 0.0 <= number < float("inf") else None


def _error_object(body: object) -> Mapping[str, Any]:
    if isinstance(body, Mapping):
        inner = body.get("error")
        if isinstance(inner, Mapping):
            return inner
        return {"message": inner} if isinstance(inner, str) else body
    return {"message": body} if isinstance(body, str) and body else {}


def _sentence(kind: str, model: str, said: str, key_name: str) -> str:
    if kind == "authentication":
        return f"the key was refused: {said}" + (f"; check {key_name}" if key_name else "")
    if kind == "not_found":
        return f"'{model}' was not found: {said}; check the model's name and that this key may use it"
    if kind == "too_long":
        return f"the request is too long for '{model}': {said}"
    return said


def _transport_error(error: Exception, provider: str, url: str, key: str | None) -> ProviderError:
    """For what happened on the way: told by the class names that SDKs and HTTP library share."""
    cause = error.__cause__ or error.__context__
    names = {cls.__name__ for one in (error, cause) for cls in type(one).__mro__}
    reason = masked(str(cause) if cause and str(cause) else str(error) or type(error).__name__, key)
    where = f" {url}" if url else ""
    if any("Timeout" in name for name in names):
        return ProviderError("timeout", provider, f"no answer from{where or ' the server'} in time: {reason}")
    if "RemoteProtocolError" in names or "ReadError" in names or "DecodingError" in names:
        return ProviderError("incomplete", provider, f"the connection broke before the reply was whole: {reason}")
    # Another breach of the protocol than by a header is that of a connection which was reused when it had ended.
    if names & {"UnsupportedProtocol", "InvalidURL"} or ("LocalProtocolError" in names and "llegal header" in reason):
        # Nothing was sent, and nothing will be the next time: it is how the address or a header is written.
        text = f"no request to{where or ' the server'} can be made: {reason}; check the address and the headers"
        return ProviderError("configuration", provider, text)
    if "APIConnectionError" in names or "TransportError" in names or isinstance(error, OSError):
        return ProviderError(
            "connection", provider, f"cannot reach{where or ' the server'}: {reason}; check the address and the network"
        )
    shown = masked(f"{type(error).__name__}: {error}", key)
    return ProviderError("response", provider, f"the reply cannot be read: {shown}")
