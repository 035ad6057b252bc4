"""What a request may leave out: no newest block, no first task, no newest message, and nothing unsummarized."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from typing import Any

from hookagent import AssistantMessage, Request, ToolRound, UserMessage
from tests.machine.course import Course
from tests.machine.world import Hooked, Sent

KEEP_ROUNDS = 1
COMPACT_AT = 90
_HEADING = "Summary of what came after this task"
_CLEARED = "was taken out to save space"
_TOKEN = re.compile(r"<(?!id)[\w-]+\d+>")
_SUMMARIZED = re.compile(r"were summarized: about [\d,]+ tokens are now ([\d,]+) of (\d+)")


class WindowLog(logging.Handler):
    """What the plugin says to its logger, from `listen` to `close`."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._said: list[str] = []
        self._logger = logging.getLogger("hookagent.context")
        self._level = self._logger.level

    def emit(self, record: logging.LogRecord) -> None:
        """Keep what is said."""
        self._said.append(record.getMessage())

    def listen(self) -> None:
        """Begin to listen."""
        self._logger.setLevel(logging.INFO)
        self._logger.addHandler(self)

    def take(self) -> list[str]:
        """What was said since this was asked last."""
        said, self._said = self._said, []
        return said

    def close(self) -> None:
        """Listen no more."""
        self._logger.removeHandler(self)
        self._logger.setLevel(self._level)
        super().close()


class Window:
    """What is known of the requests of one session, over all its runs and processes."""

    def __init__(self, log: WindowLog) -> None:
        self.summarized: set[str] = set()
        self.shaped_by_others = False
        self.start = 0
        self.summary: str | None = None
        self.log = log

    def check(self, course: Course) -> Iterator[str]:
        """Look at all requests of a run, and at what the plugin said of them."""
        for said in self.log.take():
            found = _SUMMARIZED.search(said)
            if found is not None and int(found[1].replace(",", "")) >= int(int(found[2]) * COMPACT_AT / 100):
                yield f"window: a summary is kept with which nothing fits: {said}"
        for item in course.timeline:
            if type(item) is Hooked and item.hook in ("shape_request", "wrap_model_call") and item.act is not None:
                self.shaped_by_others = True
            elif type(item) is Sent and item.summarizes:
                self.summarized |= set(_TOKEN.findall(_text(item.request)))
            elif type(item) is Sent:
                yield from self._check(item)

    def _check(self, sent: Sent) -> Iterator[str]:
        request = sent.request
        view = request.blocks
        transcript = view.transcript
        kept = {*view.kept, *range(view.start, len(transcript))}
        people = [i for i, one in enumerate(transcript) if isinstance(one, UserMessage) and one.origin is None]
        for what, place in (("first task", people[:1]), ("newest message", people[-1:])):
            if not set(place) <= kept:
                yield f"window: the {what} (block {place}) is not sent"
        if len(transcript) - 1 not in kept:
            yield "window: the newest block is not sent"
        steps = [i for i, one in enumerate(transcript) if not isinstance(one, UserMessage)][-KEEP_ROUNDS:]
        for index in steps:
            stand_in = view.replaced.get(index)
            if stand_in is not None and any(_CLEARED in result.content for result in stand_in.results if result):
                yield "window: the newest results were taken out"
        if self.shaped_by_others:
            return
        summary = request.summary if request.summary and request.summary.startswith(_HEADING) else None
        if summary is not None:
            for index in set(range(len(transcript))) - kept:
                unseen = set(_TOKEN.findall(_block_text(transcript[index]))) - self.summarized
                if unseen:
                    yield f"window: block {index} is left out, and its {sorted(unseen)} was never summarized"
        yield from self._check_shape(view.start, summary)

    def _check_shape(self, start: int, summary: str | None) -> Iterator[str]:
        if start < self.start:
            yield f"window: requests began at block {self.start}, and now at {start} again"
        elif start == self.start and summary != self.summary:
            yield f"window: the summary of the blocks before {start} became {summary!r}"
        self.start, self.summary = start, summary


def _block_text(block: Any) -> str:
    if isinstance(block, UserMessage | AssistantMessage):
        return block.text
    assert isinstance(block, ToolRound)
    return block.reply.text + "".join(result.content for result in block.results if result is not None)


def _text(request: Request) -> str:
    return "".join(_block_text(block) for block in request.blocks)
