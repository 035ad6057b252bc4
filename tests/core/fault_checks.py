"""What holds whatever fails in the reference run: in memory, on disk, and in the run behind it."""

from __future__ import annotations

import collections
from collections.abc import Callable

from checks.tally import count, size
from hookagent import Agent, PluginError
from hookagent.events import ToolStart, TurnEnd, TurnStart
from hookagent.keeping import session_store
from hookagent.messages import AssistantMessage, ToolResult, UserMessage
from tests.cases.checked_model import CheckedModel
from tests.core.faulty_plugin import Faults, Faulty
from tests.core.reference_run import RECOVERED, Seen, make_tools, observe
from tests.core.scripts import words
from tests.sessions.replaying import check_transcript

THIRD, SAMPLE = size(3, 1), size(9, 1)
MODES = ["parallel", "sequential"]
Check = Callable[[Seen], None]
ACTIVE = [Faults()]
"""What the writes of sessions are told to; the last one counts."""


def strike(faults: Faults, mode: str = "parallel") -> Seen:
    """Drive the run with these faults, which count what is written too."""
    ACTIVE.append(faults)
    count("faults at the k-th call")
    try:
        return observe(faults, mode)
    finally:
        ACTIVE.pop()


def every(
    reference: dict[str, Seen],
    kind: str,
    check: Check,
    error: Callable[[], BaseException] = lambda: ValueError("struck"),
    *,
    mode: str = "parallel",
    stride: int = 1,
    check_all: Check | None = None,
    **options: bool,
) -> None:
    """Let the k-th of a kind fail, for every k of the reference run; check what always holds and what this changes."""
    there_are = reference[mode].faults.counts[kind]
    assert there_are > 0
    for number in range(1, there_are + 1, stride):
        seen = strike(Faults(kind, number, error, **options), mode)
        try:
            assert seen.faults.struck
            check(seen)
            (check_all or check_whatever_failed)(seen)
        except BaseException as failed:
            failed.add_note(f"when number {number} of '{kind}' failed ({mode}); ends: {seen.ends}")
            raise


def check_whatever_failed(seen: Seen) -> None:
    check_conversation(seen)
    result, raised = seen.ends[-1]
    assert raised is None
    assert (result.status, result.answer) == ("completed", RECOVERED)
    assert len(seen.model.requests) > seen.asked_before
    check_brought_back(seen)


def check_conversation(seen: Seen) -> None:
    agent, transcript = seen.agent, seen.agent.transcript
    assert seen.model.refused == []
    check_transcript(transcript)
    assert transcript.open_round is None
    messages = list(transcript.messages())
    called = [call.id for one in messages if isinstance(one, AssistantMessage) for call in one.tool_calls]
    results = {one.call_id: one for one in messages if isinstance(one, ToolResult)}
    assert sorted(called) == sorted(one.call_id for one in messages if isinstance(one, ToolResult))
    assert max(collections.Counter(seen.ran).values(), default=0) <= 1
    started = {event.call.id for event in agent.session.trace if type(event) is ToolStart}
    assert set(seen.ran) <= started <= set(results)
    for call_id, result in results.items():
        # What was started and stopped at once did perhaps not run; that it may have run is true all the same.
        if call_id in seen.ran:
            assert result.status in ("ok", "error", "interrupted")
        elif result.status != "interrupted" or call_id not in started:
            assert result.status == "not_run" or result.error_type == "PluginError"
    turns = list(range(1, agent.session.turn + 1))
    assert [given["outcome"].turn for hook, given in seen.neighbour.calls if hook == "on_complete"] == turns
    for kind in (TurnStart, TurnEnd):
        assert [event.turn for event in agent.session.trace if type(event) is kind] == turns
    assert (len(agent.steering), len(agent.follow_ups)) == (0, 0)
    stored = [one.text for one in messages if isinstance(one, UserMessage) and not one.origin]
    refused = [one.text for result, _ in seen.ends for one in result.not_stored]
    assert sorted(stored + refused) == sorted(seen.said)
    assert seen.closing is None or seen.faults.kind == "on_session_end"


def check_brought_back(seen: Seen) -> None:
    """The session on disk is the one in memory, and goes on."""
    session = seen.agent.session
    again = Agent("reference", model=CheckedModel(["back again"]), session=session.id, quiet=True)
    assert again.transcript == seen.agent.transcript
    assert (again.session.usage, again.session.turn) == (session.usage, session.turn)
    assert (len(again.steering), len(again.follow_ups)) == (0, 0)
    assert again.run_sync("back?").answer == "back again"
    again.close_sync()
    assert session_store().verify(session.id) == ()


def failed_by(hook: str, seen: Seen) -> PluginError:
    result, raised = seen.end
    assert isinstance(raised, PluginError)
    assert (raised.plugin, raised.hook) == ("faulty", hook)
    assert str(raised).startswith(f"plugin 'faulty': hook '{hook}' raised ValueError: struck (")
    assert (result.status, result.reason) == ("failed", str(raised))
    return raised


def went_on(seen: Seen) -> None:
    assert [(result.status, raised) for result, raised in seen.ends] == [("completed", None)] * 3


def check_beginning_brought_back(seen: Seen) -> None:
    """What came to disk is the beginning of what was said, its open calls closed or waiting; and it goes on."""
    faults = Faults()
    again = Agent(
        model=CheckedModel(lambda request: "back again"),
        session=seen.agent.session.id,
        tools=make_tools(faults, seen.ran),
        plugins=[Faulty(faults)],
        quiet=True,
    )
    check_transcript(again.transcript)
    kept, said = words(again.transcript), words(seen.agent.transcript)
    results = {one.rpartition(" ")[0]: one for one in said if one.startswith("R ")}
    for one in kept:
        if one.startswith("R ") and not one.endswith((" interrupted", " not_run")):
            assert one == results[one.rpartition(" ")[0]]
    without_results = [one for one in kept if not one.startswith("R ")]
    assert without_results == [one for one in said if not one.startswith("R ")][: len(without_results)]
    assert again.run_sync("back?").answer == "back again"
    check_transcript(again.transcript)
    again.close_sync()
    assert session_store().verify(again.session.id) == ()
