"""When a request is made shorter, by what, to which size, and what is said where it cannot be."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

import pytest

from hookagent import (
    AssistantMessage,
    BlockView,
    Request,
    ToolCall,
    ToolResult,
    ToolRound,
    Transcript,
    UserMessage,
    freeze,
)
from hookagent_context_window import ContextWindow
from hookagent_context_window.compaction import compact
from hookagent_context_window.session_window import SessionWindow
from hookagent_context_window.shape import SUMMARY_HEADING

ROUND = 16 + 22 + 16
"""What a round of one call counts for beside its result."""
TASK = UserMessage("task")
TASK_SIZE = 20


def round_of(size: int) -> ToolRound:
    call = ToolCall("c", "look", freeze({}))
    return ToolRound(AssistantMessage((call,)), (ToolResult("x" * (size - ROUND), call_id="c"),))


class Summaries:
    """Stands for a summarizer: gives `answer`, and notes what it was asked."""

    def __init__(self, answer: str | Exception = "S", longest: int = 40) -> None:
        self.answer = answer
        self.most = longest
        self.asked: list[tuple[str, str | None, int, int]] = []
        self.rooms: list[tuple[Any, int, float]] = []
        self.blocks: list[Any] = []

    def room(self, agent: Any, window: int, tokens_per_character: float) -> int:
        self.rooms.append((agent, window, tokens_per_character))
        return 777

    def longest(self, room: int) -> int:
        assert room == 777
        return self.most

    async def summarize(self, agent: Any, task: str, old: str | None, blocks: Sequence[Any], room: int) -> str:
        self.asked.append((task, old, len(blocks), room))
        self.blocks = list(blocks)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Trial:
    """A session's window of `window` tokens, one for each character, and a request with rounds of these sizes."""

    def __init__(
        self, *sizes: int, window: int | None = 1_000, system: int = 0, task: bool = True, **options: Any
    ) -> None:
        options = {"compact_at": 90, "target": 60, "keep_rounds": 1, **options}
        self.kept = SessionWindow(ContextWindow.Options(window=window, characters_per_token=1, **options))
        self.transcript = Transcript([*([TASK] if task else []), *map(round_of, sizes)])
        self.request = Request(BlockView(self.transcript), system="s" * system, protected=(0,) if task else ())
        self.kept._follow(self.transcript)
        self.summaries = Summaries()

    def compact(self) -> bool:
        agent: Any = "the agent"
        summarizer: Any = self.summaries
        return asyncio.run(compact(self.kept, self.request, agent, summarizer))

    @property
    def size(self) -> int:
        """How many characters the request has in the session's shape."""
        return self.kept.tokens(self.kept.shape.apply(self.request))


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage().removeprefix("context-window: ") for record in caplog.records]


def stuck(tokens: int) -> str:
    return (
        f"about {tokens:,} of 1,000 tokens cannot be made fewer: the newest rounds, the first task and the newest "
        "message stay; set a larger window, or let tools give shorter results"
    )


@pytest.fixture(autouse=True)
def _all_levels(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "hookagent.context")


def test_one_token_below_the_mark_nothing_is_done_and_at_the_mark_it_is(caplog: pytest.LogCaptureFixture) -> None:
    below, at = Trial(400, 479), Trial(400, 480)
    assert (below.size, at.size) == (899, 900)
    assert not below.compact()
    assert at.compact()
    assert said(caplog) == ["the oldest blocks were dropped: about 900 tokens are now 500 of 1000"]
    assert (at.size, at.kept.compactions, at.kept.warnings) == (500, 1, 0)


@pytest.mark.parametrize(("sizes", "start"), [((300, 280, 300), 2), ((300, 281, 300), 3)])
def test_it_drops_to_the_target_and_not_further(sizes: tuple[int, ...], start: int) -> None:
    trial = Trial(*sizes, system=0)
    assert trial.size < 1_000
    assert trial.compact()
    assert trial.kept.shape.start == start


@pytest.mark.parametrize("options", [{"window": None}, {"strategy": "none"}])
def test_an_unknown_window_and_a_watching_strategy_shorten_nothing(
    options: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    trial = Trial(500, 500, 500, **options)
    assert not trial.compact()
    assert said(caplog) == []


def test_fixed_parts_at_the_mark_are_named_with_their_figures(caplog: pytest.LogCaptureFixture) -> None:
    trial = Trial(100, 100, system=900)
    assert not trial.compact()
    assert not trial.compact()
    assert said(caplog) == [
        "system text and tools (0) alone take about 900 of 1,000 tokens (90 %), so nothing is shortened; "
        "shorten them, or set a larger window"
    ]
    just_below = Trial(100, 100, system=899)
    assert just_below.compact()


@pytest.mark.parametrize("sizes", [(100, 100), (500, 500)])
def test_what_was_said_of_fixed_parts_is_said_again_when_it_is_so_again(
    sizes: tuple[int, ...], caplog: pytest.LogCaptureFixture
) -> None:
    trial = Trial(*sizes, system=900)
    fixed = trial.request
    trial.compact()
    trial.request = Request(BlockView(trial.transcript), system="s", protected=(0,))
    trial.compact()
    trial.request = fixed
    trial.compact()
    assert sum("alone take" in text for text in said(caplog)) == 2


def test_what_stays_too_long_is_said_once_until_it_fits(caplog: pytest.LogCaptureFixture) -> None:
    trial = Trial(100, 900)
    small = Request(BlockView(Transcript([TASK])), protected=(0,))
    assert trial.compact()
    assert said(caplog) == [stuck(920), "the oldest blocks were dropped: about 1,020 tokens are now 920 of 1000"]
    assert not trial.compact()
    assert len(said(caplog)) == 2
    large, trial.request = trial.request, small
    assert not trial.compact()
    trial.request = large
    assert not trial.compact()
    assert said(caplog)[2:] == [stuck(920)]


def test_what_is_left_at_the_mark_exactly_is_too_long_still(caplog: pytest.LogCaptureFixture) -> None:
    at, below = Trial(100, 880), Trial(100, 879)
    assert at.compact()
    assert said(caplog)[0] == stuck(900)
    caplog.clear()
    assert below.compact()
    assert said(caplog) == ["the oldest blocks were dropped: about 999 tokens are now 899 of 1000"]


def test_more_rounds_go_where_the_newest_do_not_fit_together(caplog: pytest.LogCaptureFixture) -> None:
    trial = Trial(100, 450, 460, keep_rounds=2)
    assert trial.compact()
    assert (trial.kept.shape.start, trial.size) == (3, 480)
    # Both steps are one thing that happened.
    assert said(caplog) == ["the oldest blocks were dropped: about 1,030 tokens are now 480 of 1000"]
    fits = Trial(100, 430, 449, keep_rounds=2)
    assert fits.compact()
    assert (fits.kept.shape.start, fits.size) == (2, 899)


def test_old_results_are_cleared_first_and_blocks_dropped_where_that_is_not_enough(
    caplog: pytest.LogCaptureFixture,
) -> None:
    enough = Trial(600, 300, 100, strategy="clear_results")
    assert enough.compact()
    assert enough.kept.shape.start == 0
    assert said(caplog) == [f"old results were cleared: about 1,020 tokens are now {enough.size} of 1000"]
    caplog.clear()
    both = Trial(300, 300, 880, strategy="clear_results")
    assert both.compact()
    assert said(caplog)[-1] == (
        f"old results were cleared and the oldest blocks were dropped: about 1,500 tokens are now {both.size:,} of 1000"
    )


def test_a_drop_clears_no_results() -> None:
    trial = Trial(400, 300, 300)
    assert trial.compact()
    assert trial.kept.shape.stand_ins == {}


# ---- summaries ----


def summarizing(*sizes: int, **options: Any) -> Trial:
    return Trial(*sizes, strategy="summarize", **options)


def test_a_summary_stands_for_the_oldest_blocks(caplog: pytest.LogCaptureFixture) -> None:
    trial = summarizing(300, 300, 300)
    assert trial.compact()
    # The target holds one more round beside the longest summary and its heading.
    assert trial.summaries.asked == [("task", None, 2, 777)]
    assert trial.summaries.blocks == list(trial.transcript)[1:3]
    assert trial.summaries.rooms == [("the agent", 1_000, 1.0)]
    assert (trial.kept.shape.start, trial.kept.shape.summary) == (3, "S")
    after = TASK_SIZE + 300 + 16 + len(SUMMARY_HEADING + "S")
    assert trial.size == after
    assert said(caplog) == [f"the oldest blocks were summarized: about 920 tokens are now {after} of 1000"]


def test_the_place_for_the_summary_is_kept_free_when_blocks_are_chosen() -> None:
    trial = summarizing(100, 300, 280, 290)
    assert trial.compact()
    # Without a summary the newest two rounds reach the target; with it only the newest one does.
    assert trial.kept.shape.start == 4


def test_a_summary_is_summarized_with_what_came_since() -> None:
    trial = summarizing(300, 300, 300)
    trial.compact()
    trial.summaries.answer = "T"
    trial.transcript = Transcript([*trial.transcript, round_of(400), round_of(200)])
    trial.kept._follow(trial.transcript)
    trial.request = trial.kept.shape.apply(Request(BlockView(trial.transcript), protected=(0,)))
    assert trial.compact()
    assert trial.summaries.asked[1] == ("task", "S", 2, 777)
    assert trial.kept.shape.summary == "T"


def test_a_request_without_a_task_is_summarized_from_its_first_block() -> None:
    trial = summarizing(300, 300, 350, task=False)
    assert trial.compact()
    assert trial.summaries.asked == [("", None, 2, 777)]


def test_only_the_newest_round_stays_where_more_do_not_fit_with_a_summary() -> None:
    extra = 16 + len(SUMMARY_HEADING) + 40
    room = 900 - TASK_SIZE - extra - 1
    trial = summarizing(200, room - 400, 400, keep_rounds=2)
    assert trial.compact()
    assert trial.kept.shape.start == 2
    larger = summarizing(200, room - 400 + 1, 400, keep_rounds=2)
    assert larger.compact()
    assert larger.kept.shape.start == 3


def test_what_no_summary_makes_short_enough_is_not_asked_for(caplog: pytest.LogCaptureFixture) -> None:
    extra = 16 + len(SUMMARY_HEADING) + 40
    newest = 900 - TASK_SIZE - extra
    trial = summarizing(200, newest)
    assert not trial.compact()
    assert trial.summaries.asked == []
    assert said(caplog) == [stuck(TASK_SIZE + 200 + newest)]
    assert summarizing(200, newest - 1).compact()


def test_where_nothing_can_be_left_out_nothing_is_asked(caplog: pytest.LogCaptureFixture) -> None:
    trial = summarizing(890)
    assert not trial.compact()
    assert trial.summaries.asked == []
    assert len(said(caplog)) == 1


@pytest.mark.parametrize(
    ("error", "why"),
    [(ValueError("it broke"), "it broke"), (ValueError(), "ValueError"), (TimeoutError("late"), "late")],
)
def test_a_failed_question_is_a_useless_try(error: Exception, why: str, caplog: pytest.LogCaptureFixture) -> None:
    trial = summarizing(300, 300, 300)
    trial.summaries.answer = error
    assert not trial.compact()
    assert said(caplog) == [f"no summary: {why}; the history is sent as it is"]
    assert not trial.compact()
    # Given up at this size: it is not asked any more.
    assert not trial.compact()
    assert len(trial.summaries.asked) == 2
    assert (trial.kept.shape.start, trial.kept.shape.summary) == (0, None)


def test_a_summary_has_to_save_a_tenth() -> None:
    heading = 16 + len(SUMMARY_HEADING)
    # 1,000 before; the newest round and the task stay.
    for extra, good in ((0, True), (1, False)):
        trial = summarizing(480, 500, window=1_050, compact_at=91)
        trial.summaries.answer = "s" * (900 - TASK_SIZE - 500 - heading + extra)
        assert trial.size == 1_000
        assert trial.compact() is good


def test_a_summary_that_leaves_the_request_at_the_mark_is_useless(caplog: pytest.LogCaptureFixture) -> None:
    heading = 16 + len(SUMMARY_HEADING)
    for length, good in ((899, True), (900, False)):
        trial = summarizing(780, 500)
        trial.summaries.answer = "s" * (length - TASK_SIZE - 500 - heading)
        assert trial.compact() is good
    # Twice in vain, and it is given up at this size.
    assert [trial.compact(), trial.compact()] == [False, False]
    assert len(trial.summaries.asked) == 2
    caplog.records[-1:] = []
    assert said(caplog)[-1] == (
        "no summary: with it the request would have about 900 tokens instead of 1,300; the history is sent as it is"
    )
