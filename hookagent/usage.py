"""Tokens and money: four counts that do not overlap, and a cost that may be unknown."""

from __future__ import annotations

from dataclasses import dataclass

from hookagent.quick_values import made_quickly


@made_quickly
@dataclass(frozen=True, slots=True)
class Usage:
    """What model calls used, in tokens; the four counts never overlap (design, "Usage").

    `input_tokens` were read fresh, `cache_read_tokens` came from the vendor's cache, `cache_write_tokens`
    were read and stored in it, `output_tokens` were written (reasoning included). `cost_usd` is None when
    a price was unknown; `requests` counts model calls.
    """

    input_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0
    requests: int = 0

    @property
    def prompt_tokens(self) -> int:
        """The size of the prompt: everything read, however it was priced."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens

    @property
    def total_tokens(self) -> int:
        """All four counts together; what a token limit counts."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        """The sum; its cost is unknown as soon as one part's is."""
        mine, theirs = self.cost_usd, other.cost_usd
        return Usage(
            self.input_tokens + other.input_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.output_tokens + other.output_tokens,
            None if mine is None or theirs is None else mine + theirs,
            self.requests + other.requests,
        )


NO_USAGE = Usage()
"""Nothing used yet. Sums that begin with it stay the same object as long as they count the same."""
