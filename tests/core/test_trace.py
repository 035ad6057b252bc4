"""The trace reads the same whether somebody listened or not, and whenever it is read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookagent.events import Event, IterationStart, MessageStart, RequestSent, TurnStart
from hookagent.testing import FakeClock
from hookagent.trace import Asked, Trace
from tests.core.scripts import calls, make_agent

ANSWER = {"text": "done"}


def events_of(listened: bool, script: list[Any]) -> list[tuple[Any, ...]]:
    agent = make_agent(script, clock=FakeClock())
    if listened:
        agent.subscribe(lambda event: None)
    agent.run_sync("go")
    return [(one.type, *one[:4], str(one[4:])) for one in agent.session.trace]


@pytest.mark.parametrize("script", [[ANSWER], [calls("quick"), ANSWER], [calls("quick", "ok"), calls("quick"), ANSWER]])
def test_it_is_the_same_where_nobody_listens(script: list[Any]) -> None:
    unheard = events_of(False, script)
    heard = [one for one in events_of(True, script) if one[0] != "message_delta"]
    assert [one[0] for one in unheard] == [one[0] for one in heard]
    assert [one[2:5] for one in unheard] == [one[2:5] for one in heard]
    assert [one[1] for one in unheard] == sorted({one[1] for one in unheard})


@given(st.lists(st.sampled_from(["event", "asked", "read"]), max_size=30))
def test_reading_in_between_changes_nothing(steps: list[str]) -> None:
    trace, number = Trace(), 0
    expected: list[Event] = []
    for step in steps:
        number += 1
        if step == "event":
            trace.append(TurnStart(number, 1.0, 1, 0, "go"))
            expected.append(TurnStart(number, 1.0, 1, 0, "go"))
        elif step == "asked":
            trace.append(Asked(number, 1.0, 1, 1, 10, 3, 2, None))
            expected += [
                IterationStart(number, 1.0, 1, 1, 10),
                RequestSent(number + 1, 1.0, 1, 1, 3, 2, None),
                MessageStart(number + 2, 1.0, 1, 1, "assistant"),
            ]
            number += 2
        else:
            assert trace.events() == expected
    assert trace.events() == expected
    assert [type(one) for one in trace.events()] == [type(one) for one in expected]
