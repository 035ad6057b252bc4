"""What each hook is allowed to return, and how strictly it fails: the one table, and its reading.

The kinds (design, "Hooks"): register, observe, contribute, transform, decide, around. A hook of several
kinds follows the strictest rule: decide > transform = contribute > observe.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from hookagent.frozen import FrozenDict
from hookagent.messages import (
    STOP_REASONS,
    AssistantMessage,
    Image,
    ProviderPart,
    ResultStatus,
    TextPart,
    ToolCall,
    ToolResult,
    UserMessage,
)
from hookagent.requests import Request
from hookagent.verdicts import Amend, Approve, Deny, Replace, Stop, Suspend

Kind = Literal["register", "observe", "contribute", "transform", "decide", "around"]
Form = Literal["either", "plain", "async"]

GATE = (Stop, Deny, Suspend, Amend)
_RESULT_STATUSES: tuple[str, ...] = get_args(ResultStatus)


@dataclass(frozen=True, slots=True)
class Contract:
    """One row: kinds, form, and what may come back.

    `verdicts` may be returned as they are, `per_call` in a mapping by call id; `replaces` is the type that
    `Replace(...)` may carry, `value` the type that may be returned as such; `open_round` says that calls
    wait for results while the hook runs, so that a message is a `MessageOrderError`.
    """

    kinds: tuple[Kind, ...]
    form: Form = "either"
    messages: bool = False
    verdicts: tuple[type, ...] = ()
    per_call: tuple[type, ...] = ()
    replaces: type | None = None
    value: type | None = None
    listed: bool = False
    open_round: bool = False

    @property
    def softened(self) -> bool:
        """Whether `on_error: warn` or `disable` applies: only to hooks that merely look."""
        return self.kinds == ("observe",)


CONTRACTS: Mapping[str, Contract] = {
    "register_tools": Contract(("register",), form="plain"),
    "on_session_start": Contract(("observe",)),
    "on_session_end": Contract(("observe",)),
    "after_user_input": Contract(
        ("transform", "contribute", "decide"), messages=True, verdicts=(Stop,), replaces=UserMessage, listed=True
    ),
    "before_llm": Contract(("contribute", "decide"), messages=True, verdicts=(Stop,), listed=True),
    "shape_request": Contract(("transform",), value=Request),
    "wrap_model_call": Contract(("around",), form="async", value=AssistantMessage),
    "after_llm": Contract(("transform", "contribute"), messages=True, replaces=AssistantMessage, listed=True),
    "before_tools": Contract(
        ("decide", "contribute"), messages=True, verdicts=(Stop, Deny, Suspend), per_call=GATE, listed=True
    ),
    "before_each_tool": Contract(("decide",), verdicts=GATE, open_round=True),
    "resolve_suspended": Contract(("decide",), per_call=(Approve, Deny, Amend, Stop), open_round=True),
    "wrap_tool_call": Contract(("around",), form="async", value=ToolResult, open_round=True),
    "after_each_tool": Contract(("transform",), value=ToolResult, open_round=True),
    "on_error": Contract(("observe",), open_round=True),
    "after_tools": Contract(("contribute", "decide"), messages=True, verdicts=(Stop,), listed=True),
    "before_complete": Contract(("contribute",), messages=True),
    "on_complete": Contract(("contribute",), messages=True),
    "on_event": Contract(("observe",), form="plain"),
}

RENAMED: Mapping[str, str] = {
    "before_model_call": "before_llm",
    "after_model_call": "after_llm",
    "before_tool": "before_each_tool",
    "after_tool": "after_each_tool",
    "before_tool_call": "before_each_tool",
    "after_tool_call": "after_each_tool",
    "transform_context": "shape_request",
}
"""Names that other agent projects use for a hook of ours; an unknown hook of that name is pointed to it."""


class WrongReturnError(Exception):
    """A value that the contract does not allow; `message_refused` when it was a message in an open round."""

    def __init__(self, text: str, *, message_refused: bool = False) -> None:
        self.message_refused = message_refused
        super().__init__(text)


@dataclass(slots=True)
class Returned:
    """What one implementation returned, sorted by what it is."""

    messages: list[UserMessage] = field(default_factory=list)
    verdict: Any = None
    per_call: dict[str, Any] = field(default_factory=dict)
    replacement: Any = None
    value: Any = None


def read_return(hook: str, plugin: str, returned: Any) -> Returned:
    """Sort what an implementation returned; added messages get the plugin as their origin.

    Raises `WrongReturnError` for anything that the hook's contract does not allow.
    """
    contract = CONTRACTS[hook]
    out = Returned()
    items = returned if contract.listed and _is_list(returned) else (returned,)
    for item in items:
        _read_one(hook, contract, plugin, item, out)
    return out


def _read_one(hook: str, contract: Contract, plugin: str, item: Any, out: Returned) -> None:
    if contract.value is not None and isinstance(item, contract.value):
        out.value = _checked(item)
    elif isinstance(item, contract.verdicts):
        if out.verdict is not None:
            raise WrongReturnError(f"returned two verdicts, {type(out.verdict).__name__} and {type(item).__name__}")
        out.verdict = _checked(item)
    elif isinstance(item, Replace):
        _read_replace(contract, item, out)
    elif isinstance(item, str | UserMessage) or _is_message_list(item, contract):
        if not contract.messages:
            may = "" if contract.open_round else f"; it may return {allowed(contract)}"
            raise WrongReturnError(
                f"returned a message, which '{hook}' cannot add{may}", message_refused=contract.open_round
            )
        for message in item if isinstance(item, list | tuple) else (item,):
            out.messages.append(_owned(message, plugin))
    elif isinstance(item, Mapping) and contract.per_call:
        for call_id, verdict in item.items():
            if not isinstance(verdict, contract.per_call):
                raise WrongReturnError(
                    f"returned {_described(verdict)} for call '{call_id}'; expected {_names(contract.per_call)}"
                )
            if str(call_id) in out.per_call:
                raise WrongReturnError(f"returned two verdicts for call '{call_id}'")
            out.per_call[str(call_id)] = _checked(verdict)
    else:
        raise WrongReturnError(f"returned {_described(item)}; it may return {allowed(contract)}")


def _read_replace(contract: Contract, item: Replace, out: Returned) -> None:
    if contract.replaces is None:
        raise WrongReturnError(f"returned Replace(...), which it cannot; it may return {allowed(contract)}")
    if not isinstance(item.value, contract.replaces):
        raise WrongReturnError(
            f"returned Replace({_described(item.value)}); expected Replace({contract.replaces.__name__})"
        )
    if out.replacement is not None:
        raise WrongReturnError("returned two Replace(...) values")
    replacement = _checked(item.value)
    if isinstance(replacement, UserMessage) and replacement.blank:
        raise WrongReturnError("replaced the message by a blank one; return Stop(reason) to refuse it")
    out.replacement = replacement


def _is_list(value: Any) -> bool:
    """Whether it is several values, and not a named tuple such as an event, which is one."""
    return isinstance(value, list | tuple) and not hasattr(value, "_fields")


def _is_message_list(item: Any, contract: Contract) -> bool:
    """Whether it is a list of messages; where none can be added, one message in a list is one too many."""
    if not _is_list(item):
        return False
    enough = all if contract.messages else any
    return enough(isinstance(one, str | UserMessage) for one in item)


def _checked(value: Any) -> Any:
    """The value, if what it is made of can be what it says; its type alone proves nothing.

    Raises `WrongReturnError`.
    """
    wrong = ""
    if isinstance(value, Amend):
        if not isinstance(value.arguments, Mapping):
            wrong = f"an Amend with {_described(value.arguments)}, not a mapping of arguments"
    elif isinstance(value, Stop | Deny | Suspend | Approve):
        if not isinstance(value.reason, str):
            wrong = f"{_described(value)} whose reason is {_described(value.reason)}, not text"
        elif isinstance(value, Deny) and not isinstance(value.unanswered, bool):
            wrong = f"a Deny whose 'unanswered' is {_described(value.unanswered)}, not true or false"
    elif isinstance(value, ToolResult):
        wrong = _wrong_result(value)
    elif isinstance(value, AssistantMessage):
        wrong = _wrong_reply(value)
    elif isinstance(value, UserMessage):
        wrong = _wrong_message(value)
    if wrong:
        raise WrongReturnError(f"returned {wrong}")
    return value


def _wrong_result(result: ToolResult) -> str:
    # Its content is made text later, as everything that a tool gives.
    if result.status not in _RESULT_STATUSES:
        return f"a ToolResult with the status {result.status!r}; it is one of {', '.join(_RESULT_STATUSES)}"
    if not isinstance(result.is_error, bool):
        return f"a ToolResult whose 'is_error' is {_described(result.is_error)}, not true or false"
    if not isinstance(result.error_type, str | None):
        return f"a ToolResult whose 'error_type' is {_described(result.error_type)}, not text"
    if isinstance(result.milliseconds, bool) or not isinstance(result.milliseconds, int | float | None):
        return f"a ToolResult whose 'milliseconds' are {_described(result.milliseconds)}, not a number"
    return ""


def _wrong_message(message: UserMessage) -> str:
    if not isinstance(message.text, str):
        return f"a UserMessage whose text is {_described(message.text)}"
    if not isinstance(message.images, tuple):
        return f"a UserMessage whose images are {_described(message.images)}, not a tuple"
    for image in message.images:
        if not isinstance(image, Image) or not isinstance(image.data, str) or not isinstance(image.media_type, str):
            return "a UserMessage with an image that is no Image(data, media_type) of two texts"
    return ""


def _wrong_reply(reply: AssistantMessage) -> str:
    if not isinstance(reply.parts, tuple):
        return f"a reply whose parts are {_described(reply.parts)}, not a tuple"
    if reply.stop_reason not in STOP_REASONS:
        return f"a reply with the stop reason {reply.stop_reason!r}; it is one of {', '.join(sorted(STOP_REASONS))}"
    for part in reply.parts:
        if type(part) is TextPart:
            if not isinstance(part.text, str):
                return f"a reply whose text is {_described(part.text)}"
        elif type(part) is ToolCall:
            if not isinstance(part.id, str) or not isinstance(part.name, str) or not part.name:
                return "a reply with a call whose id or name is not text"
            if not isinstance(part.arguments, FrozenDict | None):
                return f"a reply with a call whose arguments are {_described(part.arguments)}; hookagent.freeze them"
        elif type(part) is not ProviderPart:
            return f"a reply with {_described(part)} among its parts"
    return ""


def _owned(message: str | UserMessage, plugin: str) -> UserMessage:
    owned = (
        UserMessage(message, origin=plugin, via="plugin")
        if isinstance(message, str)
        else replace(_checked(message), origin=plugin, via="plugin")
    )
    if owned.blank:
        raise WrongReturnError("returned a blank message; return None to add nothing")
    return owned


def allowed(contract: Contract) -> str:
    """What a hook may return, in words."""
    if contract.kinds == ("around",) and contract.value is not None:
        return f"what call_next() gave, or another {contract.value.__name__}"
    words = []
    if contract.value is not None:
        words.append(contract.value.__name__)
    if contract.replaces is not None:
        words.append(f"Replace({contract.replaces.__name__})")
    if contract.verdicts:
        words.append(_names(contract.verdicts))
    if contract.per_call:
        words.append(f"{{call id: {_names(contract.per_call)}}}")
    if contract.messages:
        words.append("messages (str or UserMessage)")
    return ", ".join([*words, "None"]) if words else "None only"


def _names(types: tuple[type, ...]) -> str:
    return ", ".join(one.__name__ for one in types)


def _described(value: Any) -> str:
    return (
        f"a {type(value).__name__}"
        if not isinstance(value, type)
        else f"the class {value.__name__} (forgotten the ()?)"
    )
