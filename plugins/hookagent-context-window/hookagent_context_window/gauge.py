"""How full the window is: what was reported last, and an estimate of what was added since."""

from __future__ import annotations

from typing import NamedTuple

from hookagent import Usage

# Between one token for twenty characters and two tokens for one lies every text; what is beyond is not the text's.
FEWEST, MOST = 0.05, 2.0


class WindowStatus(NamedTuple):
    """How full the window is: `tokens` of `window`; `window` and `percent` are None where the window is unknown.

    `compactions` counts how often the requests of the session were made shorter, `warnings` how often it was said
    that the window gets full.
    """

    tokens: int
    window: int | None
    percent: float | None
    compactions: int
    warnings: int


class Gauge:
    """Turns the size of a request, in characters, into tokens.

    The size of the last prompt and its reply is known from the usage that came with it; only the difference is
    estimated, by a factor that learns from each report. Between two replies it grows with what is added, and falls only
    when something is left out.
    """

    def __init__(self, characters_per_token: float) -> None:
        self.tokens_per_character = 1.0 / characters_per_token
        self._learned = False
        self._reported = 0
        self._characters = 0

    def tokens(self, characters: int) -> int:
        """The tokens of a request of this size."""
        added = (characters - self._characters) * self.tokens_per_character
        return max(0, round(self._reported + added))

    def estimate(self, characters: int) -> int:
        """The tokens of a piece of text, without regard to what was reported."""
        return round(characters * self.tokens_per_character)

    def learn(self, prompt_characters: int, reply_characters: int, usage: Usage) -> None:
        """Take the usage that was reported for a request of this size and its reply; no report, nothing learned."""
        if usage.prompt_tokens <= 0 or prompt_characters <= 0:
            return
        ratio = min(MOST, max(FEWEST, usage.prompt_tokens / prompt_characters))
        self.tokens_per_character = (self.tokens_per_character + ratio) / 2 if self._learned else ratio
        self._learned = True
        self._reported = usage.prompt_tokens + usage.output_tokens
        self._characters = prompt_characters + reply_characters
