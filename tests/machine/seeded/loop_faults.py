"""Faults of the loop: results and messages lost, limits and ends not kept."""

from __future__ import annotations

from tests.machine.seeded.fault import Fault

FAULTS = (
    Fault(
        "loop-result-lost-with-its-hook",
        "A plugin that fails in `after_each_tool` takes the result with it: the call that ran is closed as not run.",
        "hookagent/loop/results.py",
        """            failure = graver(failure, raised)
            continue
        if returned""",
        """            raise
        if returned""",
    ),
    Fault(
        "loop-steering-lost-on-abort",
        "A queued message leaves its queue before it is known whether it goes in, so that an abort loses it.",
        "hookagent/loop/messages_in.py",
        """    for message in messages:
        if run.abort.aborted:
            return""",
        """    for message in messages:
        run.box.take(message)
        if run.abort.aborted:
            return""",
    ),
    Fault(
        "loop-no-end-after-abort",
        "`on_complete` is skipped for a turn that was aborted.",
        "hookagent/loop/ending.py",
        """    for implementation in run.hooks.on_complete:
""",
        """    for implementation in run.hooks.on_complete if end.status != "aborted" else ():
""",
    ),
    Fault(
        "loop-stop-beside-message",
        "A `Stop` from `after_tools` is passed over where the plugin adds a message beside it.",
        "hookagent/loop/tool_round.py",
        """        if returned.verdict is not None and end is None:
            end =""",
        """        if returned.verdict is not None and end is None and not returned.messages:
            end =""",
    ),
    Fault(
        "loop-one-iteration-too-many",
        "The limit of iterations lets one more model call through.",
        "hookagent/loop/budget.py",
        "self.iterations >= limits.max_iterations:",
        "self.iterations > limits.max_iterations:",
    ),
    Fault(
        "loop-call-ids-kept",
        "Call ids that the session has already are not refreshed.",
        "hookagent/loop/replies.py",
        "            while not call_id or call_id in used:\n",
        "            while not call_id:\n",
    ),
    Fault(
        "loop-prompt-not-held",
        "A prompt to a session that goes on waiting is thrown away instead of being held behind the round.",
        "hookagent/loop/turn.py",
        """        if end is not None and end.status != "waiting":
            return end
""",
        """        if end is not None:
            return end
""",
    ),
)
