"""What the tests of gates and of answers share: the verdicts, plugins that give them, and what comes of it."""

from __future__ import annotations

from typing import Any

import pytest

from hookagent import Amend, Deny, Stop, Suspend
from hookagent.transcript import ToolRound
from tests.core.plugin_making import made

ANSWER = {"text": "done"}
NONE, AMEND, SUSPEND, DENY, STOP = None, Amend({"n": 7}), Suspend("sure?"), Deny("no"), Stop("enough")
VERDICTS = {"none": NONE, "amend": AMEND, "suspend": SUSPEND, "deny": DENY, "stop": STOP}
STRICTER = ["none", "amend", "suspend", "deny", "stop"]
SOURCES = ["each", "all", "map", "list"]
both_modes = pytest.mark.parametrize("mode", ["parallel", "sequential"])


def gate(name: str, source: str, verdict: Any) -> Any:
    """A plugin that gives one verdict for every call, by one of the four ways there are."""
    if source == "each":
        return made(name, before_each_tool=lambda tool_call: verdict)
    if source == "all" and not isinstance(verdict, Amend):
        return made(name, before_tools=lambda tool_calls: verdict)
    if verdict is None:
        return made(name, before_tools=lambda tool_calls: {})
    if source == "list":
        return made(name, before_tools=lambda tool_calls: [{one.id: verdict for one in tool_calls}, f"note of {name}"])
    return made(name, before_tools=lambda tool_calls: {one.id: verdict for one in tool_calls})


def outcome(result: Any) -> tuple[str, str, int]:
    """Status, how the one call ended ("open" while it waits), and the argument that it ran with or would."""
    transcript = result.session.transcript
    if transcript.open_round is not None:
        return result.status, "open", -1
    found = next(block for block in transcript if isinstance(block, ToolRound)).results[0]
    assert found is not None
    number = int(found.content.split()[1]) if found.status == "ok" else -1
    return result.status, found.status, number


EXPECTED = {
    "none": ("completed", "ok", 0),
    "amend": ("completed", "ok", 7),
    "suspend": ("waiting", "open", -1),
    "deny": ("completed", "denied", -1),
    "stop": ("stopped", "not_run", -1),
}
