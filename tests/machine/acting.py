"""What each act returns; an act that does something besides does it here as well."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hookagent import (
    Amend,
    Approve,
    AssistantMessage,
    Deny,
    Replace,
    Request,
    Stop,
    Suspend,
    TextPart,
    ToolCall,
    ToolResult,
    ToolRound,
    UserMessage,
    freeze,
)

if TYPE_CHECKING:
    from tests.machine.actor import Actor

Given = Mapping[str, Any]


def returned(actor: Actor, hook: str, act: str | None, given: Given) -> Any:
    """What a hook returns that does `act`."""
    if act is None:
        return _by_policy(actor, hook, given)
    general = _ANYWHERE.get(act)
    if general is not None:
        return general(actor, given)
    special = _SPECIAL.get((hook, act))
    return special(actor, given) if special is not None else None


def _by_policy(actor: Actor, hook: str, given: Given) -> Any:
    """What the second plugin does all the time: suspend some calls, and answer for what is suspended."""
    insists = actor.insists or actor.setup.insists in ("both", actor.name)
    if insists and hook == "before_each_tool":
        return Amend({"n": 70 + actor.index})
    if actor.index == 0:
        return None
    suspends, answers = actor.setup.suspends, actor.setup.answers
    if hook == "before_each_tool" and suspends in ("every", given["tool_call"].name):
        return Suspend(f"{actor.name} wants a person to look")
    if hook == "resolve_suspended" and answers:
        pending = [one.call.id for one in given["pending"]]
        answer: Any = {"approve": Approve(), "deny": Deny("a person says no"), "amend": Amend({"n": 9})}.get(answers)
        return {call_id: answer or Approve() for call_id in (pending if answer else pending[:1])}
    return None


# ---- in every hook ----


def _wrong(actor: Actor, given: Given) -> Any:
    return object()


def _message(actor: Actor, given: Given) -> Any:
    return actor.world.token(f"{actor.name}-says-")


def _two_messages(actor: Actor, given: Given) -> Any:
    token = actor.world.token
    return [token(f"{actor.name}-says-"), UserMessage(token(f"{actor.name}-says-"), origin="somebody else")]


def _mutate(actor: Actor, given: Given) -> Any:
    """Try to change what was given; whatever gives way shows in what the oracles see."""
    for value in given.values():
        for name in ("text", "content", "arguments", "blocks", "parts", "results", "status", "call"):
            with contextlib.suppress(AttributeError, TypeError):
                if name == "arguments" and getattr(value, name, None) is not None:
                    value.arguments["n"] = "changed"
                elif hasattr(value, name):
                    setattr(value, name, None)
    return None


def _abort(actor: Actor, given: Given) -> Any:
    actor.world.abort(given["agent"], f"{actor.name} aborts")


def _steer(actor: Actor, given: Given) -> Any:
    actor.world.steer(given["agent"])


def _follow_up(actor: Actor, given: Given) -> Any:
    actor.world.follow_up(given["agent"])


_ANYWHERE: dict[str, Callable[[Actor, Given], Any]] = {
    "wrong": _wrong,
    "message": _message,
    "two_messages": _two_messages,
    "mutate": _mutate,
    "abort": _abort,
    "steer": _steer,
    "follow_up": _follow_up,
}


# ---- in one hook ----


def _shorten(actor: Actor, given: Given) -> Request:
    request: Request = given["request"]
    return request.dropping_before(len(request.blocks.transcript) - 1)


def _clear(actor: Actor, given: Given) -> Request | None:
    request: Request = given["request"]
    view = request.blocks
    for index in range(view.start, len(view.transcript)):
        block = view.transcript[index]
        if isinstance(block, ToolRound):
            return request.with_result_text(index, block.calls[0].id, f"cleared by {actor.name}")
    return None


def _reply(actor: Actor, given: Given) -> AssistantMessage:
    return AssistantMessage((TextPart(actor.world.token("instead")),))


def _with_call(actor: Actor, given: Given) -> Replace:
    response: AssistantMessage = given["response"]
    return Replace(response.changed(tool_calls=(*response.tool_calls, ToolCall("", "ok", freeze({"n": 5})))))


def _insist(actor: Actor, given: Given) -> Amend:
    actor.insists = True
    return Amend({"n": 70 + actor.index})


def _all_pending(answer: Any) -> Callable[[Actor, Given], Any]:
    return lambda actor, given: {one.call.id: answer for one in given["pending"]}


def _one_call(verdict: Any, place: int) -> Callable[[Actor, Given], Any]:
    return lambda actor, given: {given["tool_calls"][place].id: verdict}


def _always(value: Any) -> Callable[[Actor, Given], Any]:
    return lambda actor, given: value


_SPECIAL: dict[tuple[str, str], Callable[[Actor, Given], Any]] = {
    ("after_user_input", "replace"): lambda actor, given: Replace(UserMessage(f"replaced: {given['message'].text}")),
    ("after_user_input", "stop"): _always(Stop("not this message")),
    ("before_llm", "stop"): _always(Stop("no more calls")),
    ("shape_request", "note"): lambda actor, given: given["request"].with_note(actor.world.token("note")),
    ("shape_request", "shorten"): _shorten,
    ("shape_request", "summary"): lambda actor, given: given["request"].with_summary(actor.world.token("summary")),
    ("shape_request", "clear"): _clear,
    ("shape_request", "drop_system"): lambda actor, given: replace(given["request"], system=""),
    ("wrap_model_call", "instead"): _reply,
    ("after_llm", "replace"): lambda actor, given: Replace(given["response"].changed(text=actor.world.token("new"))),
    ("after_llm", "replace_calls"): _with_call,
    ("before_tools", "stop"): _always(Stop("not this round")),
    ("before_tools", "deny"): _always(Deny("none of this round")),
    ("before_tools", "suspend"): _always(Suspend("look at this round")),
    ("before_tools", "deny_one"): _one_call(Deny("not the last one"), -1),
    ("before_tools", "suspend_one"): _one_call(Suspend("look at the first one"), 0),
    ("before_tools", "amend_one"): _one_call(Amend({"n": 60}), 0),
    ("before_tools", "message_and_deny"): lambda actor, given: [_message(actor, given), Deny("said so")],
    ("before_each_tool", "stop"): _always(Stop("not this call")),
    ("before_each_tool", "deny"): _always(Deny("not this one")),
    ("before_each_tool", "suspend"): _always(Suspend("look at this one")),
    ("before_each_tool", "amend"): lambda actor, given: Amend({"n": 50 + actor.index}),
    ("before_each_tool", "insist"): _insist,
    ("before_each_tool", "amend_badly"): _always(Amend({"n": "not a number"})),
    ("before_each_tool", "unanswered"): _always(Deny("nobody is there", unanswered=True)),
    ("resolve_suspended", "approve"): _all_pending(Approve()),
    ("resolve_suspended", "deny"): _all_pending(Deny("a person says no")),
    ("resolve_suspended", "amend"): _all_pending(Amend({"n": 80})),
    ("resolve_suspended", "stop"): _all_pending(Stop("a person quits")),
    ("resolve_suspended", "unanswered"): _all_pending(Deny("nobody is there", unanswered=True)),
    ("resolve_suspended", "approve_one"): lambda actor, given: {given["pending"][0].call.id: Approve()},
    ("wrap_tool_call", "instead"): lambda actor, given: ToolResult(actor.world.token("instead")),
    ("after_each_tool", "replace"): lambda actor, given: replace(given["result"], content=actor.world.token("changed")),
    ("after_tools", "stop"): _always(Stop("after this round")),
    ("after_tools", "stop_and_message"): lambda actor, given: [_message(actor, given), Stop("after this round")],
}
