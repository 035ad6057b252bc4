"""Faults of the transcript, and of bringing it back from disk: order, results and messages mixed up."""

from __future__ import annotations

from tests.machine.seeded.fault import Fault

_TRANSCRIPT = "hookagent/transcript.py"

FAULTS = (
    Fault(
        "transcript-results-as-they-come",
        "Results stand in the order in which they came, not in call order.",
        _TRANSCRIPT,
        """            if call.id == call_id:
                index = place
""",
        """            if call.id == call_id:
                index = results.index(None)
""",
    ),
    Fault(
        "transcript-held-before-the-round",
        "A message that comes while a round is open is stored ahead of the round, not held behind it.",
        _TRANSCRIPT,
        """            return self._snapshot(self._log, self._length, self._open_round, (*self._held, message))
""",
        """            log, length = self._grown(message)
            return self._snapshot(log, length, self._open_round, self._held)
""",
    ),
    Fault(
        "transcript-held-replaced",
        "Of several messages held behind a round only the newest is kept.",
        _TRANSCRIPT,
        "self._open_round, (*self._held, message))",
        "self._open_round, (message,))",
    ),
    Fault(
        "transcript-old-snapshot-overwrites",
        "Growing an old snapshot cuts off what newer snapshots share with it.",
        _TRANSCRIPT,
        """        log, length = self._log, self._length
        if len(log) == length:
            log.append(block)
""",
        """        log, length = self._log, self._length
        del log[length:]
        if len(log) == length:
            log.append(block)
""",
    ),
    Fault(
        "transcript-closed-by-the-last-call",
        "A round is closed once its last call has a result, whether or not the earlier ones have.",
        _TRANSCRIPT,
        "        if len(results) > 1 and not grown.closed:\n",
        "        if len(results) > 1 and filled[-1] is None:\n",
    ),
    Fault(
        "sessions-started-said-not-run",
        "Of a call that was started when its process died it is said that it did not run.",
        "hookagent/sessions/replay.py",
        """            if call.id in self._started:
                made.append(ToolResult(running, True, "interrupted", call.id))
""",
        """            if call.id in self._started:
                made.append(ToolResult(before, True, "not_run", call.id))
""",
    ),
    Fault(
        "sessions-queued-twice",
        "A queued message that was stored before the process died comes back into its queue.",
        "hookagent/sessions/restore.py",
        "                    self._queue.pop(record.entry, None)\n            case ReplyRecord",
        "                    self._queue.get(record.entry)\n            case ReplyRecord",
    ),
    Fault(
        "sessions-verdict-forgotten",
        "A call that waits for an answer is free to run when the session is opened again.",
        "hookagent/loop/calls.py",
        '_RESTORED = ("original", "verdict", "by",',
        '_RESTORED = ("original", "by",',
    ),
)
