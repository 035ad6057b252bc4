"""The rules a Request keeps whatever the vendor: whole blocks, protected messages, honest replacements, tools.

They are checked before every send, also where nothing goes over a wire, and cost the same at any length of
the transcript: only the window's edges are looked at, and a replaced round once (design, "Windows keep
rounds whole" and "One last check").
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from hookagent.errors import RequestRefusedError
from hookagent.frozen import FrozenDict
from hookagent.messages import UserMessage
from hookagent.providers.tool_lists import PerTools
from hookagent.requests import BlockView, Note, Request
from hookagent.transcript import ToolRound

if TYPE_CHECKING:
    from hookagent.tools.tool import Tool

TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""The narrowest of the vendors' patterns for tool names."""


def check_request(request: Request) -> None:
    """Refuse a request that no hook may make, whatever the wire form.

    Raises `RequestRefusedError` with one of the rules `blocks`, `open_round`, `window`, `protected`,
    `replaced`, `empty_prompt`, `summary`, `notes`, `settings`, `tool_choice`, `tools`; it names the last
    plugin that shaped the request.
    """
    view = request.blocks
    if type(view) is not BlockView:
        raise _refused(request, "blocks", f"its blocks are a {type(view).__name__}, not the BlockView it came with")
    # What the loop makes and nobody shapes is sent in each round: the whole transcript, which is looked at by its end.
    blocks, newest, open_round = view.transcript.end()
    protected = request.protected
    kept = not protected or (len(protected) <= 2 and 0 <= protected[0] <= protected[-1] < blocks)
    whole = not view.start and not view.kept
    if not whole or not kept or open_round is not None:
        _check_window(request, view)
    if view.replaced:
        _check_replaced(request, view)
    if not (whole and type(newest) is ToolRound) and not _says_something(view):
        raise _refused(request, "empty_prompt", "the prompt is empty; there is no message to send")
    if request.summary is not None and not isinstance(request.summary, str):
        raise _refused(request, "summary", f"the summary is a {type(request.summary).__name__}, not text")
    if request.notes and not all(type(note) is Note and isinstance(note.text, str) for note in request.notes):
        raise _refused(request, "notes", "a note is not a Note with a text; add one with request.with_note(...)")
    # Asking an abstract class is slow, and the loop's own settings are always of this kind.
    if type(request.settings) is not FrozenDict and not isinstance(request.settings, Mapping):
        raise _refused(request, "settings", f"the settings are a {type(request.settings).__name__}, not a mapping")
    if request.tool_choice not in ("auto", "none"):
        raise _refused(request, "tool_choice", f"tool_choice is {request.tool_choice!r}, not 'auto' or 'none'")
    if request.tools:
        problem = _TOOL_PROBLEM(request.tools)
        if problem:
            raise _refused(request, "tools", problem)


def _says_something(view: BlockView) -> bool:
    return any(type(block) is not UserMessage or not block.blank for block in view)


def _refused(request: Request, rule: str, message: str) -> RequestRefusedError:
    return RequestRefusedError(rule, message, request.shaped_by)


def _check_window(request: Request, view: BlockView) -> None:
    transcript, start, kept = view.transcript, view.start, view.kept
    length = len(transcript)
    open_round = transcript.open_round
    if open_round is not None:
        waiting = ", ".join(f"{call.name} ({call.id})" for call in open_round.open_calls)
        raise _refused(request, "open_round", f"tool calls still wait for their results: {waiting}")
    if not 0 <= start <= length:
        raise _refused(request, "window", f"its window starts at block {start} of {length}")
    before = -1
    for index in kept:
        if not before < index < start:
            why = f"the kept blocks {list(kept)} are not ascending and below the window's start {start}"
            raise _refused(request, "window", why)
        before = index
    for index in request.protected:
        if not 0 <= index < length or (index < start and index not in kept):
            what = "the first task" if index == request.protected[0] else "the newest user message"
            raise _refused(request, "protected", f"{what} (block {index}) was dropped, which cannot be")


def _check_replaced(request: Request, view: BlockView) -> None:
    transcript = view.transcript
    for index, stand_in in view.replaced.items():
        if type(index) is not int or not 0 <= index < len(transcript):
            raise _refused(request, "replaced", f"it replaces block {index!r}, which is not in the transcript")
        original = transcript[index]
        # Compared once: the rounds are frozen, so what held for this pair holds for good.
        if type(stand_in) is ToolRound and stand_in.wire_cache.get("stands_for") is original:
            continue
        if type(original) is not ToolRound or type(stand_in) is not ToolRound or not _same_calls(original, stand_in):
            raise _refused(
                request,
                "replaced",
                f"block {index} was replaced by something else than the same round with another result text; "
                "use request.with_result_text(...)",
            )
        stand_in.wire_cache["stands_for"] = original


def _same_calls(original: ToolRound, stand_in: ToolRound) -> bool:
    if stand_in.reply is not original.reply and stand_in.reply != original.reply:
        return False
    if len(stand_in.results) != len(original.results):
        return False
    for mine, theirs in zip(stand_in.results, original.results, strict=True):
        if mine is None or theirs is None or not isinstance(mine.content, str):
            return False
        if (mine.call_id, mine.is_error, mine.status) != (theirs.call_id, theirs.is_error, theirs.status):
            return False
    return True


def _find_tool_problem(tools: tuple[Tool, ...]) -> str:
    seen: set[str] = set()
    for tool in tools:
        if not isinstance(getattr(tool, "name", None), str):
            return f"a tool is a {type(tool).__name__}, not a Tool; make one with Tool.from_callable(...)"
        if not TOOL_NAME.fullmatch(tool.name):
            return f"the tool name {tool.name!r} does not match ^{TOOL_NAME.pattern}$"
        if tool.name in seen:
            return f"two tools are named '{tool.name}'"
        seen.add(tool.name)
    return ""


_TOOL_PROBLEM = PerTools(_find_tool_problem)
