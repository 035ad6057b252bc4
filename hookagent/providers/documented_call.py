"""The SDKs' documented calls, for those who want them instead of `post`: slower, and the same request."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any


async def documented_stream(
    create: Callable[..., Awaitable[Any]], body: Mapping[str, Any], messages: str, headers: Mapping[str, str] | None
) -> Any:
    """Call the SDK's `create` with `body` and `stream` set; `messages` is the field that is the list of messages.

    What `create` has no argument for goes as its `extra_body`.
    """
    names = inspect.signature(create).parameters
    known = {name: value for name, value in body.items() if name in names}
    # The SDKs copy what they are given, and are quick only about plain dicts.
    known[messages] = [dict(message) for message in body[messages]]
    others = {name: value for name, value in body.items() if name not in names}
    return await create(**known, stream=True, extra_headers=headers, extra_body=others or None)
