"""The hooks of the plugin `context-window`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookagent import AssistantMessage, ProviderError, Request, Session, ToolCall, hookimpl
from hookagent_context_window.compaction import compact
from hookagent_context_window.gauge import WindowStatus
from hookagent_context_window.options import ContextWindowOptions
from hookagent_context_window.session_window import SessionWindow
from hookagent_context_window.summarizer import Summarizer

if TYPE_CHECKING:
    from hookagent import Agent


class ContextWindow:
    """Knows how full the model's context window is, warns, and keeps requests inside it.

    Before every model call, also between tool rounds, it looks at the last reported usage and estimates what was added
    since. From `compact_at` per cent on it makes requests shorter, by `strategy`; the transcript is never touched. An
    unknown window stays unknown, and then nothing is shortened, unless the option `window` gives it. It says what it
    does to the logger `hookagent.context`; tokens of summaries are booked to `context-window`. What was left out, and
    the summary in its place, are kept in the session, so that a resumed one goes on with them.
    """

    name = "context-window"
    time_limit: float | None = None  # each question for a summary has the limit `timeout_seconds`

    Options = ContextWindowOptions

    def __init__(self, options: ContextWindowOptions | None = None) -> None:
        self.options = options or ContextWindowOptions()
        self._summarizer = Summarizer(
            self.name, self.options.model, self.options.timeout_seconds, self.options.summary_words
        )
        self._sessions: dict[str, SessionWindow] = {}

    def status(self, session: Session) -> WindowStatus | None:
        """How full the window is now, estimated; None before the session's first request and after its end."""
        kept = self._sessions.get(session.id)
        return None if kept is None else kept.status(session)

    @hookimpl
    async def shape_request(self, request: Request, agent: Agent, session: Session) -> Request | None:
        """Give the request the session's shape, and make it shorter first if it is too long."""
        kept = self._sessions.get(session.id)
        if kept is None:
            kept = self._sessions[session.id] = SessionWindow(self.options)
            kept.resume(request.blocks.transcript, session.stored_state(self.name))
        shaped = kept.shaped(request, agent)
        tokens = kept.tokens(shaped)
        if await compact(kept, shaped, agent, self._summarizer):
            agent.store_state(self.name, kept.shape.state())
            kept.warn_if_full(tokens)
            shaped = kept.shaped(request, agent)
        else:
            kept.watch(tokens)
        return None if shaped is request else shaped

    @hookimpl
    def after_llm(self, request: Request, response: AssistantMessage, session: Session) -> None:
        """Learn from what was reported for this request."""
        kept = self._sessions.get(session.id)
        if kept is not None:
            kept.answered(request, response)

    @hookimpl
    def on_error(self, error: BaseException, tool_call: ToolCall | None, session: Session) -> None:
        """Believe a server that refuses a request as too long and names its window."""
        kept = self._sessions.get(session.id)
        if kept is not None and tool_call is None and isinstance(error, ProviderError) and error.kind == "too_long":
            kept.refused(error.window)

    @hookimpl
    def on_session_end(self, session: Session) -> None:
        """Forget the session."""
        self._sessions.pop(session.id, None)
