"""The drawings of hooks and events are what a run really does."""

from __future__ import annotations

import re
from typing import Any

from hookagent import Agent
from hookagent.contract import CONTRACTS
from hookagent.testing import Recorder, ScriptedProvider
from tests.docs.pages import ROOT, blocks

DESIGN = ROOT / "docs" / "explanation" / "design.md"
README = ROOT / "README.md"
# Said in the drawings only where they fit, because they come in some runs only.
SOMETIMES = {
    *("resolve_suspended", "on_error"),
    *("[message_delta]", "[tool_progress]", "[resolve_start]", "[resolve_end]", "[error]"),
}
OUTSIDE = {"register_tools", "on_session_start", "on_session_end"}


class Interleaved(Recorder):
    """Writes hooks and events down in one list, events in brackets."""

    def __init__(self, listening: list[str]) -> None:
        super().__init__()
        self.listening = listening

    def _answer(self, hook: str, **arguments: Any) -> Any:
        self.listening.append(hook)
        return super()._answer(hook, **arguments)


def run_with_one_round() -> list[str]:
    """The hooks and events of a turn with one tool round."""

    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    seen: list[str] = []
    model = ScriptedProvider([{"calls": [{"name": "add", "arguments": {"a": 1, "b": 2}}]}, "Three."])
    agent = Agent(tools=[add], model=model, plugins=[Interleaved(seen)])
    agent.subscribe(lambda event: seen.append(f"[{event.type}]"))
    agent.run_sync("Add 1 and 2.")
    agent.close_sync()
    return seen


def drawn(page_text: str) -> list[str]:
    """The words of a drawing that are hooks or events, in order."""
    words = re.findall(r"\[\w+\]|\w+", page_text)
    return [word for word in words if word in CONTRACTS or word.startswith("[")]


def drawing(page: Any, word: str) -> str:
    (found,) = [block.text for block in blocks(page) if not block.language and word in block.text]
    return found


def hooks_only(words: list[str]) -> list[str]:
    return [word for word in words if not word.startswith("[") and word not in SOMETIMES]


def test_hooks_and_events_come_in_the_order_that_the_design_draws() -> None:
    real = [word for word in run_with_one_round() if word not in SOMETIMES | OUTSIDE]
    in_drawing = [word for word in drawn(drawing(DESIGN, "[agent_start]")) if word not in SOMETIMES]

    # The second model call is drawn by its hooks alone.
    second = real.index("[iteration_start]", real.index("[iteration_start]") + 1)
    end = real.index("[turn_end]")
    assert in_drawing == [*real[: second + 1], *hooks_only(real[second:end]), *real[end:]]


def test_hooks_fire_in_the_order_that_the_readme_draws() -> None:
    real = hooks_only(run_with_one_round())
    first_answer = real.index("before_llm", real.index("after_tools"))
    end = real.index("before_complete")

    expected = [word for word in [*real[:first_answer], *real[end:]] if word != "register_tools"]
    assert hooks_only(drawn(drawing(README, "on_session_start"))) == expected


def test_the_two_drawings_name_every_hook() -> None:
    named = set(drawn(drawing(README, "on_session_start"))) | {"register_tools", "on_event"}

    assert named == set(CONTRACTS)
    text = README.read_text(encoding="utf-8")
    assert "`register_tools`" in text
    assert "`on_event`" in text
