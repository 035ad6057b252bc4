from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hookagent import Agent, tool
from hookagent.testing import ScriptedProvider


@tool(effect="reads")
def look(path: str, headers: dict[str, str] | None = None) -> str:
    """Look at a file."""
    return f"saw {path}"


@tool(effect="writes")
def fail(path: str) -> str:
    """Fail."""
    raise ValueError(f"no such file: {path}")


def made_agent(calls: list[dict[str, Any]], *plugins: Any, **settings: Any) -> Agent:
    """An agent whose model makes `calls` in one reply, then answers."""
    return Agent(
        "test", tools=[look, fail], model=ScriptedProvider([{"calls": calls}, "done"]), plugins=plugins, **settings
    )


@pytest.fixture
def agent_with() -> Callable[..., Agent]:
    return made_agent
