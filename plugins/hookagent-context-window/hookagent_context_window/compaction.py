"""Making the requests of a session shorter, by the strategy that is set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookagent import Request, UserMessage
from hookagent_context_window.session_window import SessionWindow
from hookagent_context_window.shape import SUMMARY_HEADING
from hookagent_context_window.sizes import text_size
from hookagent_context_window.summarizer import Summarizer

if TYPE_CHECKING:
    from hookagent import Agent

_WORTH_IT = 0.9
"""A summary has to bring the request to this part of its size at least."""


async def compact(kept: SessionWindow, request: Request, agent: Agent, summarizer: Summarizer) -> bool:
    """Change the session's shape so that `request`, which has it, gets shorter, if it is too long.

    Returns whether the shape was changed. What cannot be made shorter is said once and left as it is.
    """
    options, window = kept.options, kept.window
    if window is None or options.strategy == "none":
        return False
    limit, goal = int(window * options.compact_at / 100), int(window * options.target / 100)
    tokens = kept.tokens(request)
    if tokens < limit:
        kept.forget("stuck", "fixed")
        return False
    fixed = kept.fixed_tokens(request)
    if fixed >= limit:
        kept.say(
            "fixed",
            f"system text and tools ({len(request.tools)}) alone take about {fixed:,} of {window:,} tokens "
            f"({100 * fixed // window} %), so nothing is shortened; shorten them, or set a larger window",
        )
        return False
    kept.forget("fixed")
    if options.strategy == "summarize":
        return await _summarize(kept, request, agent, summarizer, limit, goal)
    return _leave_out(kept, request, limit, goal)


def _leave_out(kept: SessionWindow, request: Request, limit: int, goal: int) -> bool:
    shape, options, before = kept.shape, kept.options, kept.tokens(request)
    how = []
    if options.strategy == "clear_results" and shape.clear_results(request, goal, options.keep_rounds):
        how.append("old results were cleared")
    # Sizes follow the shape, so a request made before the results were cleared is measured as it will be.
    for keep_rounds in (options.keep_rounds, 1):
        if shape.tokens_from(request, shape.start) >= limit and shape.drop(request, goal, keep_rounds):
            how.append("the oldest blocks were dropped")
    after = shape.tokens_from(request, shape.start)
    if after >= limit:
        _say_stuck(kept, after)
    if how:
        kept.compacted(" and ".join(dict.fromkeys(how)), before, after)
    return bool(how)


async def _summarize(
    kept: SessionWindow, request: Request, agent: Agent, summarizer: Summarizer, limit: int, goal: int
) -> bool:
    shape, options, before = kept.shape, kept.options, kept.tokens(request)
    if kept.gave_up(before):
        return False
    room = summarizer.room(agent, kept.window or 0, kept.gauge.tokens_per_character)
    expected = text_size(SUMMARY_HEADING) + summarizer.longest(room)
    newest = shape.newest_start(options.keep_rounds)
    if shape.tokens_from(request, newest, expected) >= limit:
        newest = shape.newest_start(1)
    start = shape.start_for(request, goal, newest, expected)
    blocks, first_task = request.blocks, request.first_task()
    # The newest user message is summarized too where it stands in between: it is kept only as long as it is the newest.
    covered = [index for index in range(max(shape.start, blocks.start), start) if index != first_task]
    if not covered or shape.tokens_from(request, start, expected) >= limit:
        _say_stuck(kept, before)
        return False
    task = blocks.transcript[first_task] if first_task is not None else None
    try:
        summary = await summarizer.summarize(
            agent,
            task.text if isinstance(task, UserMessage) else "",
            shape.summary,
            [blocks.transcript[index] for index in covered],
            room,
        )
    except Exception as error:
        kept.useless(str(error) or type(error).__name__, before)
        return False
    after = shape.tokens_from(request, start, text_size(SUMMARY_HEADING + summary))
    if after > before * _WORTH_IT or after >= limit:
        kept.useless(f"with it the request would have about {after:,} tokens instead of {before:,}", before)
        return False
    shape.start, shape.summary = start, summary
    kept.compacted("the oldest blocks were summarized", before, after)
    return True


def _say_stuck(kept: SessionWindow, tokens: int) -> None:
    kept.say(
        "stuck",
        f"about {tokens:,} of {kept.window or 0:,} tokens cannot be made fewer: the newest rounds, the first task and "
        "the newest message stay; set a larger window, or let tools give shorter results",
    )
