"""Retries of model calls: by kind of error, with growing waits, never after somebody saw a piece of the reply.

The SDKs' own retries are off: they know no cap on the wait a server asks for, and hooks and traces would
not see them (design, "Rooms": retries lie below `wrap_model_call`).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from hookagent.clock import SYSTEM_CLOCK, Clock, sleep
from hookagent.errors import ProviderError
from hookagent.messages import AssistantMessage
from hookagent.providers.base import Delta, Provider, Retrying
from hookagent.providers.wire.request_rules import check_request
from hookagent.requests import Request


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """When to try a failed model call again, and how long to wait.

    `max_attempts` counts the first one too. The wait before attempt n + 1 is `first_wait` seconds, doubled
    each time, at most `max_wait`; `random_fraction` (0 to 1) takes up to half of it off, so that many
    agents do not come back at once. A wait the server asks for is obeyed up to `max_wait` seconds.
    """

    max_attempts: int = 4
    first_wait: float = 1.0
    max_wait: float = 60.0
    random_fraction: Callable[[], float] = random.random

    def wait_seconds(self, failed_attempts: int, error: ProviderError) -> float:
        """How long to wait after the `failed_attempts`-th failure (1, 2, ...), in seconds."""
        if error.retry_after is not None:
            return min(max(error.retry_after, 0.0), self.max_wait)
        grown = min(self.first_wait * 2.0 ** (failed_attempts - 1), self.max_wait)
        return grown * (1.0 - self.random_fraction() / 2.0)


DEFAULT_RETRY_POLICY = RetryPolicy()


def _always() -> bool:
    return True


def _go_on(item: Delta | Retrying) -> bool:
    return True


async def _close(stream: object) -> None:
    close = getattr(stream, "aclose", None)
    if close is not None:
        await close()


async def ask_with_retries(
    provider: Provider,
    request: Request,
    hear: Callable[[Delta | Retrying], bool] = _go_on,
    *,
    clock: Clock = SYSTEM_CLOCK,
    policy: RetryPolicy = DEFAULT_RETRY_POLICY,
    may_retry: Callable[[], bool] = _always,
) -> AssistantMessage | None:
    """Send `request`, again where that may help, and give the whole reply.

    `hear` is told each delta, and of a `Retrying` before each wait; once it answers False the attempt is closed and
    the reply is None. `may_retry` says whether a second attempt is still allowed: the caller answers False once a
    delta reached a listener, a stream or the screen. Waits on `clock`.

    Raises `ProviderError` when an error is not of a kind that passes, when attempts are used up, or when
    `may_retry` says no; `RequestRefusedError` before anything is sent.
    """
    check_request(request)
    attempt = 1
    while True:
        try:
            stream = provider.stream(request)
            item: Delta | AssistantMessage | None = None
            whole = False
            try:
                async for item in stream:
                    if not isinstance(item, AssistantMessage) and not hear(item):
                        return None
                whole = True
            finally:
                if not whole:
                    await _close(stream)
            if not isinstance(item, AssistantMessage):
                raise ProviderError("incomplete", provider.name, "the reply ended before it was whole")
            return item
        except ProviderError as error:
            if not error.retryable or attempt >= policy.max_attempts or not may_retry():
                raise
            wait = policy.wait_seconds(attempt, error)
            described = str(error)
        attempt += 1
        if not hear(Retrying(attempt, wait, described)):
            return None
        await sleep(clock, wait)
