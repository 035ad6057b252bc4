"""What the plugin knows of one session: sizes, gauge, shape, and what it has said already."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from hookagent import AssistantMessage, Request, Session, Transcript
from hookagent_context_window.gauge import Gauge, WindowStatus
from hookagent_context_window.shape import Shape
from hookagent_context_window.sizes import BlockSizes, reply_size, text_size

if TYPE_CHECKING:
    from hookagent import Agent
    from hookagent_context_window.options import ContextWindowOptions

log = logging.getLogger("hookagent.context")

USELESS_TRIES = 2
MUCH = 1.5
"""By which factor the size has to change before a summary is tried again after useless tries."""


class SessionWindow:
    """The window of one session."""

    def __init__(self, options: ContextWindowOptions) -> None:
        self.options = options
        self.sizes = BlockSizes()
        self.gauge = Gauge(options.characters_per_token)
        self.shape = Shape(self.sizes, self.gauge)
        self.window: int | None = options.window
        self.compactions = 0
        self.warnings = 0
        self._refused_at: int | None = None
        self._useless = 0
        self._off_at: int | None = None
        self._said: set[str] = set()
        self._newest: Request | None = None
        self._reply = 0

    def resume(self, transcript: Transcript, state: object) -> None:
        """Give requests the shape again that they had when the session was left; `state` is what was kept of it."""
        self._follow(transcript)
        if self.options.strategy != "none":
            self.shape.restore(state, transcript)

    def shaped(self, request: Request, agent: Agent) -> Request:
        """Look at what is new since the last request, and give this one the session's shape."""
        self._follow(request.blocks.transcript)
        known = self.options.window or agent.provider.context_window
        self.window = min(filter(None, (known, self._refused_at)), default=None)
        shaped = self.shape.apply(request)
        self._newest, self._reply = shaped, 0
        return shaped

    def answered(self, request: Request, reply: AssistantMessage) -> None:
        """Learn from what was reported for a request as it was really sent, and for its reply."""
        size = self.sizes.of(request)
        self._newest, self._reply = request, reply_size(reply)
        self.gauge.learn(size, self._reply, reply.usage)
        self.warn_if_full(self.gauge.tokens(size + self._reply))

    def tokens(self, request: Request) -> int:
        """About how many tokens the request has."""
        return self.gauge.tokens(self.sizes.of(request))

    def fixed_tokens(self, request: Request) -> int:
        """About how many of them no compaction can save: system text, tools, and what the vendor adds unseen."""
        history = self.sizes.blocks_of(request.blocks) + text_size(request.summary)
        return self.tokens(request) - self.gauge.estimate(history)

    def refused(self, window: int | None) -> None:
        """The server refused a request as too long; where it named its window, believe it from now on."""
        if not window or (self.window is not None and self.window <= window):
            return
        before = "unknown" if self.window is None else f"{self.window:,} tokens"
        log.warning("context-window: the server's window is %s tokens; it was taken for %s", f"{window:,}", before)
        self.window = self._refused_at = window
        self._off_at, self._useless = None, 0

    def _follow(self, transcript: Transcript) -> None:
        self.shape.shrink_to(self.sizes.follow(transcript))

    def status(self, session: Session) -> WindowStatus | None:
        """How full the window is with all that is stored now; None before the first request."""
        newest = self._newest
        if newest is None:
            return None
        self._follow(session.transcript)
        # A reply with calls is not among the blocks before its round is closed.
        added = self.sizes.between(len(newest.blocks.transcript), len(self.sizes)) or self._reply
        tokens = self.gauge.tokens(self.sizes.of(newest) + added)
        percent = None if self.window is None else 100.0 * tokens / self.window
        return WindowStatus(tokens, self.window, percent, self.compactions, self.warnings)

    # ---- what is said ----

    def watch(self, tokens: int) -> None:
        """Warn once each time the window gets as full as `warn_at` says, by a request that was not made shorter.

        Where every request has to be made shorter, the window was not less full in between: that is one time.
        """
        if not self.warn_if_full(tokens):
            self.forget("full")

    def warn_if_full(self, tokens: int) -> bool:
        """Warn if the window is as full as `warn_at` says, unless that was said already; whether it is."""
        window = self.window
        if window is None or 100.0 * tokens < self.options.warn_at * window:
            return False
        if "fixed" not in self._said:
            self.say("full", f"the window is {100 * tokens // window} % full: about {tokens:,} of {window:,} tokens")
        return True

    def say(self, what: str, text: str) -> None:
        """Log a warning, once until `forget(what)`."""
        if what not in self._said:
            self._said.add(what)
            self.warnings += 1
            log.warning("context-window: %s", text)

    def forget(self, *what: str) -> None:
        """What was said is no longer so."""
        self._said.difference_update(what)

    def compacted(self, how: str, before: int, after: int) -> None:
        """A compaction worked."""
        self.compactions += 1
        self._useless = 0
        log.info("context-window: %s: about %s tokens are now %s of %s", how, f"{before:,}", f"{after:,}", self.window)

    def useless(self, why: str, tokens: int) -> None:
        """A try to summarize was for nothing; after the second one no more are made until the size changes much."""
        self._useless += 1
        self.warnings += 1
        log.warning("context-window: no summary: %s; the history is sent as it is", why)
        if self._useless >= USELESS_TRIES:
            self._off_at = tokens
            self.warnings += 1
            log.warning(
                "context-window: gave up summarizing after %d useless tries, until the size changes much", self._useless
            )

    def gave_up(self, tokens: int) -> bool:
        """Whether summarizing was given up at about this size."""
        if self._off_at is None:
            return False
        if self._off_at / MUCH < tokens < self._off_at * MUCH:
            return True
        self._off_at, self._useless = None, 0
        return False
