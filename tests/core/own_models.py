"""Agents whose model does what a test makes of it."""

from __future__ import annotations

from typing import Any

from hookagent import Agent
from tests.core.scripts import make_agent
from tests.core.ways_around import around


class OwnModel:
    """A model whose stream is a function of a test's making."""

    name, model, wire, context_window, notice = "own", "model", None, None, ""

    def __init__(self, stream: Any) -> None:
        self.stream = stream


def agent_with(stream: Any, *plugins: Any, way: str = "bare", **options: Any) -> Agent:
    """An agent with a model that streams so; `way` says what is around a call of it (see `ways_around`)."""
    agent = make_agent([], *plugins, *around(way, "model"), **options)
    agent.model = OwnModel(stream)
    return agent
