"""Faults of keeping requests inside the model's window: too much left out, too little, or for nothing."""

from __future__ import annotations

from tests.machine.seeded.fault import CONTEXT_WINDOW, Fault

FAULTS = (
    Fault(
        "window-newest-results-cleared",
        "The text of the newest results is taken out as well, before the model has read it.",
        f"{CONTEXT_WINDOW}/shape.py",
        "        newest = self.newest_start(keep_rounds)\n        while",
        "        newest = len(transcript)\n        while",
    ),
    Fault(
        "window-summary-lost-on-resume",
        "A session that is opened again leaves out the old blocks, but without the summary in their place.",
        f"{CONTEXT_WINDOW}/shape.py",
        "        self.start, self.summary, self._cleared = start, summary, cleared\n",
        "        self.start, self.summary, self._cleared = start, None, cleared\n",
    ),
    Fault(
        "window-block-never-summarized",
        "The last of the blocks that a summary stands for is not shown to the model that writes it.",
        f"{CONTEXT_WINDOW}/compaction.py",
        "range(max(shape.start, blocks.start), start) if",
        "range(max(shape.start, blocks.start), start - 1) if",
    ),
    Fault(
        "window-summary-kept-though-too-long",
        "A summary is kept although the request does not fit with it.",
        f"{CONTEXT_WINDOW}/compaction.py",
        "    if after > before * _WORTH_IT or after >= limit:\n",
        "    if after > before * _WORTH_IT:\n",
    ),
    Fault(
        "window-too-long-sent-again",
        "A request that was refused as too long is sent once more, unchanged.",
        "hookagent/loop/request.py",
        "    return len(now) < len(before) or",
        "    return len(now) <= len(before) or",
    ),
    Fault(
        "window-newest-message-dropped",
        "Leaving out the oldest blocks also drops the newest user message where it is older than they are.",
        "hookagent/requests.py",
        "(index for index in self.protected if view.start",
        "(index for index in self.protected[:1] if view.start",
    ),
)
