"""What a reference run shows about a plugin: each problem with the hook it is about and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from hookagent import AssistantMessage, MessageOrderError, PluginError, ToolResult, Transcript, UserMessage
from hookagent.testing.plugin_check.evidence import FIRST, LAST, Evidence
from hookagent.testing.plugin_check.runs import NESTED

Message = UserMessage | AssistantMessage | ToolResult
# A plugin may end a run early in these ways, each by a verdict that says so.
_BY_VERDICT: Final = frozenset({"stopped", "refused", "waiting"})


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: `what` happened, in which `hook` if that is known, and what to do (`remedy`)."""

    what: str
    remedy: str
    hook: str = ""


def problems_of(evidence: Evidence, plugin: str) -> Iterator[Problem]:
    """Everything that a run shows against `plugin`."""
    if evidence.too_long:
        yield Problem(
            "the run did not end", "give what it waits for a limit of time, or give the check an object that does not"
        )
        return
    for error in (evidence.raised, evidence.closing):
        if error is not None:
            yield _raised(error)
    yield from _outcomes(evidence)
    yield from _reports(evidence, plugin)
    for hook, text in dict.fromkeys(evidence.watch.changed):
        yield Problem(text, "return a changed copy (dataclasses.replace, hookagent.thaw) instead", hook)
    for text in evidence.refused:
        yield Problem(
            f"a provider would refuse the request: {text}",
            "shape requests by their own methods only, and leave rounds whole",
            "shape_request",
        )
    if evidence.raised is None:
        for text in unbalanced(evidence.calls):
            yield Problem(text, "let every call go on to the end; stop a run by returning Stop(reason)")
    if evidence.agent is not None:
        session = evidence.agent.session
        for text in disorder(Transcript(list(session.transcript)).messages()):
            yield Problem(f"the transcript is not valid: {text}", "add messages by returning them from a hook")
        if session.transcript.open_round is not None and not session.waiting:
            yield Problem("a tool round was left open", "leave the transcript to the agent")
    for name in evidence.tasks:
        yield Problem(f"a task was left running: {name}", "await what was started, or cancel it in 'on_session_end'")
    for text in evidence.untold:
        yield Problem(f"an exception was lost: {text}", "await what was started, where it was started")


def _raised(error: BaseException) -> Problem:
    if isinstance(error, MessageOrderError):
        return Problem(error.what, "no message can stand between calls and their results", error.hook)
    if isinstance(error, PluginError):
        changed = "frozen" in error.what.lower()
        remedy = (
            "return a changed copy; what hooks are given is frozen"
            if changed
            else "catch what may fail, and return only what the table of hooks allows"
        )
        return Problem(error.what, remedy, error.hook)
    return Problem(f"the run raised {type(error).__name__}: {error}", "a plugin must not end the run in that way")


def _outcomes(evidence: Evidence) -> Iterator[Problem]:
    for result in evidence.results:
        for text in result.errors:
            yield Problem(text, "catch what may fail there", "on_complete")
        for text in result.warnings:
            yield Problem(f"the run ended with a warning: {text}", "catch what may fail there")
    if evidence.raised is None and evidence.results:
        result = evidence.results[-1]
        if result.status not in {*evidence.run.ends, *_BY_VERDICT}:
            expected = " or ".join(evidence.run.ends)
            why = f": {result.reason}" if result.reason else ""
            yield Problem(
                f"the run ended as '{result.status}' instead of '{expected}'{why}",
                "end a run with Stop(reason) only, and answer calls with verdicts",
            )


def _reports(evidence: Evidence, plugin: str) -> Iterator[Problem]:
    if evidence.agent is None:
        return
    for event in evidence.agent.session.trace:
        if event.type == "hook" and event.plugin not in (FIRST, LAST) and event.outcome in ("slow", "overran"):
            yield Problem(
                f"{event.outcome}: {event.detail}",
                "await what takes long in an 'async def' hook, and leave the rest to a thread",
                event.hook,
            )


def disorder(messages: Iterable[Message]) -> Iterator[str]:
    """What is wrong with the order of a flat list of messages; nothing for a valid one.

    Behind a message with calls come the results of exactly these calls, in call order, before anything else (design,
    "The ordering rule").
    """
    awaited: list[str] = []
    used: set[str] = set()
    for place, message in enumerate(messages):
        if isinstance(message, ToolResult):
            if not awaited or message.call_id != awaited[0]:
                expected = f"'{awaited[0]}'" if awaited else "none"
                yield f"message {place} is the result of '{message.call_id}', expected was {expected}"
            awaited = awaited[1:]
            if not message.content.strip():
                yield f"message {place} is a blank result"
            continue
        if awaited:
            yield f"message {place} stands before the results of {', '.join(awaited)}"
        awaited = []
        if isinstance(message, UserMessage) and message.blank:
            yield f"message {place} is blank"
        if isinstance(message, AssistantMessage):
            awaited = [call.id for call in message.tool_calls]
            yield from (f"call id '{one}' is used twice" for one in awaited if one in used or awaited.count(one) > 1)
            used.update(awaited)
    if awaited:
        yield f"the calls {', '.join(awaited)} have no result"


def unbalanced(calls: list[tuple[str, dict[str, Any]]]) -> Iterator[str]:
    """What is open where it must not be: each `before_` has its `after_`, an `on_error` or an end.

    See the design, "What it is for". `calls` are all hook calls of one session in order, as a `Recorder` writes them.
    """
    names = [hook for hook, _ in calls if hook != "register_tools"]
    for hook in ("on_session_start", "on_session_end"):
        if names.count(hook) != 1:
            yield f"'{hook}' was called {names.count(hook)} times"
    if names and (names[0], names[-1]) != ("on_session_start", "on_session_end"):
        yield f"the first hook was '{names[0]}' and the last '{names[-1]}'"
    model, in_round, open_calls = False, False, dict[str, str]()
    for hook, given in calls:
        if hook == "before_llm":
            if model or in_round:
                yield "'before_llm' was called while another model call or tool round was open"
            model = True
        elif hook == "after_llm" or (hook == "on_error" and given["tool_call"] is None):
            model = False
        elif hook == "before_tools":
            in_round = True
        elif hook == "before_each_tool" and given["tool_call"].name != NESTED:
            open_calls[given["tool_call"].id] = given["tool_call"].name
        elif hook == "after_each_tool":
            open_calls.pop(given["tool_call"].id, None)
        elif hook == "after_tools":
            yield from (f"the call of '{name}' has a before and no after" for name in open_calls.values())
            in_round = False
            open_calls.clear()
        elif hook == "on_complete":
            if given["outcome"].status == "completed" and (model or in_round or open_calls):
                yield "the turn completed with a model call or a tool round still open"
            model, in_round = False, False
            open_calls.clear()
