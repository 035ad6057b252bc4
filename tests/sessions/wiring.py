"""An agent whose session is kept in a store that a test looks into, under an id that the test chose."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hookagent import Agent
from hookagent.providers.scripted import ScriptedProvider
from hookagent.sessions.places import home_folder
from hookagent.sessions.store import SessionStore


def kept_agent(store: SessionStore, session_id: str, script: Any, *, resume: bool = False, **options: Any) -> Agent:
    """An agent with a scripted model whose session is new, or goes on from what `store` has."""
    assert Path(home_folder()) == store.database.folder
    model = ScriptedProvider(script)
    if resume:
        return Agent("kept", model=model, session=session_id, quiet=True, **options)
    agent = Agent("kept", model=model, quiet=True, **options)
    agent._state.id = session_id  # nothing was written yet
    return agent
