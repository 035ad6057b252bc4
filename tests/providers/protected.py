"""Which blocks no request may leave out, as the session notes them while its transcript grows."""

from __future__ import annotations

from hookagent.limits import Limits
from hookagent.session import SessionState
from hookagent.transcript import Transcript


def protected_in(transcript: Transcript) -> tuple[int, ...]:
    """The indexes of the first task and the newest user message, in a session with this transcript."""
    state = SessionState(Limits())
    state.grow(transcript)
    return state.protected
