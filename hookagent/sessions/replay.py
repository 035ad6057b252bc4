"""Making a transcript from records: by the three operations by which it grew, so that it is valid whatever they say.

What the process left open when it died is closed here: a call that was started has no other truth than "it may have
run", and is never run again. What a damaged or foreign file has too much, too little or twice is repaired by one rule
and said in `problems`.
"""

from __future__ import annotations

from dataclasses import replace

from hookagent.messages import AssistantMessage, AssistantPart, ToolCall, ToolResult, UserMessage
from hookagent.session import SessionState
from hookagent.sessions.open_calls import OpenCall
from hookagent.tools.text import bounded_text
from hookagent.transcript import ToolRound

DIED_RUNNING = "interrupted: the process ended while it ran; it may have run"
DIED_BEFORE = "not run: the process ended before it started"
FORKED_RUNNING = "interrupted: the session was forked while it ran; it may have run"
FORKED_BEFORE = "not run: the session was forked before it started"
LOST_BEGINNING = "(The beginning of this conversation could not be read.)"
_RESULT_LIMIT = 10_000_000


class Replay:
    """A transcript under way, in `state`. `problems` says what was repaired; `number` is the record at work."""

    def __init__(self, state: SessionState) -> None:
        self.state = state
        self.problems: list[str] = []
        self.number = 0
        self._renamed: dict[str, str] = {}
        self._started: set[str] = set()
        self._waiting: dict[str, OpenCall] = {}

    def problem(self, text: str) -> None:
        """Note what is wrong with the record at work."""
        self.problems.append(f"record {self.number}: {text}")

    def user(self, message: UserMessage) -> bool:
        """Store a user message; in an open round it is held. Whether it was stored: a blank one is not."""
        if message.blank:
            self.problem("a blank user message was left out")
            return False
        self.state.grow(self.state.transcript.with_user(message))
        return True

    def reply(self, message: AssistantMessage) -> None:
        """Store a reply, and close the round before it, should that be open still."""
        if self.state.transcript.open_round is not None:
            self.problem("a reply stands where calls still wait for results; they are closed")
            self.close(DIED_RUNNING, DIED_BEFORE, all_of_them=True)
        if not message.tool_calls and not message.text.strip() and message.stop_reason != "pause":
            self.problem("an empty reply was left out")
            return
        if not len(self.state.transcript):
            self.problem("a reply stands at the beginning; a note stands for what was lost before it")
            self.user(UserMessage(LOST_BEGINNING, origin="hookagent"))
        self._renamed, self._started, self._waiting = {}, set(), {}
        message = self._with_good_ids(message)
        self.state.grow(self.state.transcript.with_reply(message))

    def started(self, call: ToolCall) -> None:
        """A call was about to run."""
        call_id = self._open_id(call.id)
        if call_id is None:
            self.problem(f"call '{call.id}' was started and is not open; the record was left out")
            return
        self._started.add(call_id)
        self.state.tools_called.append(call.name)

    def result(self, result: ToolResult) -> None:
        """Store a result; what belongs to no open call, or to one that has a result, is left out."""
        call_id = self._open_id(result.call_id)
        if call_id is None:
            self.problem(f"a result for call '{result.call_id}', which is not open, was left out")
            return
        self._store(replace(result, call_id=call_id, content=bounded_text(result.content, _RESULT_LIMIT)))

    def waiting(self, calls: tuple[OpenCall, ...]) -> None:
        """The round waits for answers to these calls; a later record of the kind replaces an earlier one."""
        self._waiting = {}
        for call in calls:
            call_id = self._open_id(call.original.id)
            if call_id is None:
                self.problem(f"call '{call.original.id}' waits and is not open; it was left out")
            else:
                renamed = call_id != call.original.id
                self._waiting[call_id] = _with_id(call, call_id) if renamed else call

    def forked(self) -> None:
        """The session was forked here: what the original had begun is not the fork's to end."""
        self.close(FORKED_RUNNING, FORKED_BEFORE)

    def finish(self) -> tuple[tuple[OpenCall, ...], tuple[ToolResult, ...]]:
        """Close what the process left open; gives the calls of a round that goes on waiting, and the results made up.

        The calls are all those of the round in call order, with the results that there are.
        """
        made = self.close(DIED_RUNNING, DIED_BEFORE)
        open_round = self.state.transcript.open_round
        if open_round is None:
            return (), made
        pending = [
            self._waiting[call.id] if result is None else OpenCall(call, call, result=result)
            for call, result in zip(open_round.calls, open_round.results, strict=True)
        ]
        return tuple(pending), made

    def close(self, running: str, before: str, *, all_of_them: bool = False) -> tuple[ToolResult, ...]:
        """Give the open calls their results, but those of a round that goes on waiting; or really all of them."""
        open_round = self.state.transcript.open_round
        if open_round is None:
            return ()
        keeps = not all_of_them and self._goes_on_waiting(open_round)
        made = []
        for call in open_round.open_calls:
            if call.id in self._started:
                made.append(ToolResult(running, True, "interrupted", call.id))
            elif not (keeps and call.id in self._waiting):
                made.append(ToolResult(before, True, "not_run", call.id))
        for result in made:
            self._store(result)
        return tuple(made)

    def _goes_on_waiting(self, open_round: ToolRound) -> bool:
        """Whether a call is suspended still; the others of its round wait with it, and no others."""
        still_open = {call.id for call in open_round.open_calls} - self._started
        return any(call.suspended for call_id, call in self._waiting.items() if call_id in still_open)

    def _store(self, result: ToolResult) -> None:
        self.state.grow(self.state.transcript.with_result(result))

    def _open_id(self, call_id: str) -> str | None:
        open_round = self.state.transcript.open_round
        call_id = self._renamed.get(call_id, call_id)
        if open_round is None or call_id not in {call.id for call in open_round.open_calls}:
            return None
        return call_id

    def _with_good_ids(self, reply: AssistantMessage) -> AssistantMessage:
        """The reply with call ids that no other call of the session has; the ids of results follow the first of two."""
        used = self.state.used_ids
        parts: list[AssistantPart] = []
        changed = False
        for part in reply.parts:
            if isinstance(part, ToolCall):
                call_id, count = part.id, 1
                while not call_id or call_id in used:
                    count += 1
                    call_id = f"{part.id or 'call'}_{count}"
                used.add(call_id)
                self._renamed.setdefault(part.id, call_id)
                if call_id != part.id:
                    self.problem(f"call id '{part.id}' is blank or was used before; it is '{call_id}' now")
                    part, changed = replace(part, id=call_id), True
            parts.append(part)
        return replace(reply, parts=tuple(parts)) if changed else reply


def _with_id(call: OpenCall, call_id: str) -> OpenCall:
    return replace(call, call=replace(call.call, id=call_id), original=replace(call.original, id=call_id))
