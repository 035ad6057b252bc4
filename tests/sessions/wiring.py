"""An agent that keeps its session as the product does: the journal hears everything first, and of both queues."""

from __future__ import annotations

import itertools
from typing import Any

from hookagent import Agent
from hookagent.loop.calls import CallState
from hookagent.messages import UserMessage
from hookagent.providers.scripted import ScriptedProvider
from hookagent.sessions.journal import Journal
from hookagent.sessions.open_calls import OpenCall
from hookagent.sessions.restore import Restored, restore
from hookagent.sessions.store import SessionStore


class KeptAgent(Agent):
    """An agent with the journal `journal`; `restored` says what it goes on from."""

    journal: Journal | None = None

    def keep(self, journal: Journal) -> None:
        self.journal = journal
        self.subscribe(journal)

    def go_on_from(self, restored: Restored) -> None:
        self._state = restored.state
        self._session = type(self._session)(restored.state)
        self._emitter.state = restored.state
        restored.state.pending = [as_state(one) for one in restored.pending]
        for message in restored.steering:
            self.steering.put(message)
        for message in restored.follow_ups:
            self.follow_ups.put(message)

    def steer(self, message: str | UserMessage) -> None:
        waiting = len(self.steering)
        super().steer(message)
        for one in itertools.islice(self.steering.peek(), waiting, None):
            if self.journal is not None:
                self.journal.queued(one)

    def take(self, message: UserMessage) -> None:
        super().take(message)
        if self.journal is not None and message.via in ("steer", "follow_up"):
            self.journal.taken(message)


def as_state(call: OpenCall) -> CallState:
    state = CallState(call.call)
    for name in ("original", "verdict", "by", "asked_by", "amended_by", "edited_by", "answered", "gated", "result"):
        setattr(state, name, getattr(call, name))
    return state


def kept_agent(store: SessionStore, session_id: str, script: Any, *, resume: bool = False, **options: Any) -> KeptAgent:
    """An agent with a scripted model whose session is kept in `store`, or comes back from it."""
    # Its own journal would be a second writer, of a session of its own.
    agent = KeptAgent("kept", model=ScriptedProvider(script), log=False, **options)
    journal = Journal(store, session_id, pending=lambda: agent._state.pending, cwd=str(store.database.folder))
    if resume:
        journal.claim()
        restored = restore(store.read(session_id), agent.limits, session_id=session_id)
        agent.go_on_from(restored)
        agent.keep(journal)
        journal.resumed(restored)
    else:
        agent.keep(journal)
    return agent
