"""The hooks. Each docstring has five parts: Fires, Returns, Order, Owns, Since.

Every hook but `register_tools` may also take `agent` (the `Agent`) and `session` (a read-only `Session`: transcript,
trace, turn, iteration, user_prompt, usage, context_percent, limits, abort_signal); an implementation names only the
arguments it wants. A *message* is a `str`, a `UserMessage` or a list of them; what a plugin adds is user-role and
carries its name as `origin`. What a hook may return, and what happens when it fails, is the table in
`hookagent.contract`. `def` and `async def` behave the same, unless a hook says that it takes one form only.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hookagent.markers import hookspec

if TYPE_CHECKING:
    from hookagent.abort import Aborted
    from hookagent.agent import Agent
    from hookagent.events import Event
    from hookagent.messages import AssistantMessage, ToolCall, ToolResult, UserMessage
    from hookagent.pending import PendingCall
    from hookagent.requests import Request
    from hookagent.result import Outcome
    from hookagent.session import Session
    from hookagent.transcript import ToolRound
    from hookagent.verdicts import Answer, Replace, Stop, Verdict

    Messages = str | UserMessage | Sequence[str | UserMessage]


# ---- the agent and its session ----


@hookspec
def register_tools(register: Callable[..., Any]) -> None:
    """Add tools to the agent.

    Fires: when the agent is built, once per plugin; plain `def` only.
    Returns: nothing; call `register(function_or_tool)` for each tool. A value returned is refused.
    Order: list order; a name that is taken already is an error that names both owners.
    Owns: the tool it registers stays the plugin's; what it raises keeps the agent from being built.
    Since: 0.1
    """


@hookspec
def on_session_start(agent: Agent, session: Session) -> None:
    """Prepare for a session.

    Fires: once per session and agent, before the agent's first turn in it: again for the agent that goes on with a
    kept session (`session.stored_state` knows what was before), and after `agent.reset()`. Not for a session that a
    plugin meets as a gate only, of a nested agent or in `agent.call_tool`.
    Returns: nothing. When it fails, the turn ends before the prompt is stored.
    Order: list order; every plugin is called, also after another one failed.
    Owns: nothing; `session` is a view and may be kept while the session lives.
    Since: 0.1
    """


@hookspec
def on_session_end(agent: Agent, session: Session) -> None:
    """Clean up after a session.

    Fires: once for each `on_session_start`: when the agent is closed or reset, whatever happened before.
    Returns: nothing. A failure here keeps answer and status of the last run and is listed with its errors;
    `close()` or `reset()` raises the first one.
    Order: list order; every plugin is called, also after another one failed.
    Owns: nothing.
    Since: 0.1
    """


# ---- a turn begins ----


@hookspec
def after_user_input(
    message: UserMessage, agent: Agent, session: Session
) -> Replace | Messages | Stop | list[Replace | Messages | Stop] | None:
    """Look at, change, add to or refuse what a person said.

    Fires: for each human message that came in (`message.via`: prompt, steer or follow_up), just before it is stored.
    Returns: `Replace(message)` to change it; messages, which land right behind it; `Stop(reason)`, and then
    it is not stored (`RunResult.not_stored`), as when the hook fails; None to leave it.
    Order: list order; each implementation sees what the ones before made of the message.
    Owns: the message is frozen; make a changed copy with `dataclasses.replace`.
    Since: 0.1
    """


# ---- the model is asked ----


@hookspec
def before_llm(iteration: int, agent: Agent, session: Session) -> Messages | Stop | None:
    """Add messages before a model call, or stop the run.

    Fires: before each model call; `iteration` counts from 1 in each turn.
    Returns: messages, stored at the transcript's end; `Stop(reason)`; None.
    Order: list order.
    Owns: nothing.
    Since: 0.1
    """


@hookspec
def shape_request(request: Request, agent: Agent, session: Session) -> Request | None:
    """Change what is sent, without changing what is stored.

    Fires: before each model call, after `before_llm`.
    Returns: a changed `Request` (other blocks, a summary, tools, settings, a passing note), made by the
    methods of the one it was given (the system text by `dataclasses.replace`); None to leave it. Blocks stay
    whole, the system text may only be extended, and the first task and the newest user message cannot be
    dropped: the last check refuses such a request by naming the last plugin that shaped it. Tools are `Tool`
    objects of `agent.tools`: any other is offered and then unknown when the model calls it.
    Order: list order; each implementation sees the request as shaped so far.
    Owns: the request is frozen and may be kept; it holds no copy of the transcript.
    Since: 0.1
    """


@hookspec
async def wrap_model_call(
    request: Request,
    call_next: Callable[[Request], Awaitable[AssistantMessage | Aborted]],
    agent: Agent,
    session: Session,
) -> AssistantMessage | Aborted:
    """Stand around a model call: retry, cache, route, time it.

    Fires: around the provider, retries of one request included; `async def` only.
    Returns: the response, usually what `await call_next(request)` gave; `call_next` may be called never,
    once or several times, one call at a time. What it is given is checked again before it is sent.
    After an abort it gives an `Aborted` value, and what the hook then returns or raises is ignored.
    A failed call raises `ProviderError`; a hook that returns a reply of its own instead makes it a success.
    Order: nested; the first in the list is the outermost.
    Owns: the request and the response are frozen.
    Since: 0.1
    """


@hookspec
def after_llm(
    request: Request, response: AssistantMessage, agent: Agent, session: Session
) -> Replace | Messages | list[Replace | Messages] | None:
    """Look at a reply, change it, or add messages.

    Fires: when a reply came, before it is stored; not when the call failed.
    Returns: `Replace(response)` for a changed reply (use `response.changed(...)`: signed parts are dropped
    as a whole); messages; None. If the reply has calls, the messages are held and land right behind the
    round's last result; on a final reply they are stored behind it, for the next turn.
    Order: list order; each implementation sees the reply as changed so far.
    Owns: request and response are frozen and may be kept.
    Since: 0.1
    """


# ---- a tool round ----


@hookspec
def before_tools(
    tool_calls: tuple[ToolCall, ...], agent: Agent, session: Session
) -> Verdict | Mapping[str, Verdict] | Messages | list[Any] | None:
    """Judge a round as a whole.

    Fires: once per round, before any of its calls runs, and once more with the final arguments if a call
    was amended; not again when a waiting session is run. Also for a nested agent's rounds (see `before_each_tool`).
    Returns: `Stop`, `Deny` or `Suspend` for all calls; a mapping from call id to a verdict; messages, held
    until the round is closed; a list of these; None to say nothing.
    Order: list order; all verdicts are collected and the strictest wins.
    Owns: the calls are frozen, arguments deeply; may be kept.
    Since: 0.1
    """


@hookspec
def before_each_tool(tool_call: ToolCall, agent: Agent, session: Session) -> Verdict | None:
    """Judge one call.

    Fires: per call in call order, unknown tools, bad arguments and cut replies included (`tool_call.problem`),
    until a `Stop`, an abort or a failed gate; once more if another gate amended the call, and for the calls
    still open when a waiting session is run. Also for the calls of `agent.call_tool`, and for those of an agent
    nested in a tool, with the nested `agent` and `session`.
    Returns: `Stop`, `Deny`, `Suspend`, `Amend(arguments)`; None to say nothing. There is no "allow".
    A message is refused with `MessageOrderError`. When it fails, the call does not run and the run stops.
    Order: list order; each `Amend` is validated before the next gate sees it.
    Owns: the call is frozen, arguments deeply; may be kept.
    Since: 0.1
    """


@hookspec
def resolve_suspended(pending: tuple[PendingCall, ...], agent: Agent, session: Session) -> Mapping[str, Answer] | None:
    """Answer for calls that a gate suspended: ask a person, a chat, a ticket.

    Fires: when all gates have spoken and calls are still suspended, with all of them at once; and again
    when a waiting session is run. Also for a nested agent's calls (see `before_each_tool`).
    Returns: a mapping from call id to `Approve`, `Deny`, `Amend` or `Stop`; None when it cannot answer.
    A call that nobody answers stays suspended, and the session waits.
    Order: list order; each is asked only for the calls still open, and nobody twice for one call.
    Owns: the calls are frozen and final: exactly these arguments run when approved.
    Since: 0.1
    """


@hookspec
async def wrap_tool_call(
    tool_call: ToolCall, call_next: Callable[[], Awaitable[ToolResult | Aborted]], agent: Agent, session: Session
) -> ToolResult | Aborted:
    """Stand around the execution of a call that may run: time it, cache it, retry a safe one.

    Fires: around the execution; not for calls that were refused; `async def` only.
    Returns: the result, usually what `await call_next()` gave; `call_next` takes no argument and may be called
    never, once or several times, one call at a time. A tool that fails gives an error result (`is_error`), and
    raises nothing. After an abort it gives an `Aborted` value, and what the hook then returns or raises is ignored.
    Order: nested; the first in the list is the outermost.
    Owns: call and result are frozen.
    Since: 0.1
    """


@hookspec
def after_each_tool(tool_call: ToolCall, result: ToolResult, agent: Agent, session: Session) -> ToolResult | None:
    """Look at a result, or change it.

    Fires: once per result, whatever the outcome, before it is stored; one at a time, as calls end. Not for what a
    kept session says of calls that a dead process left open.
    Returns: a changed `ToolResult` (`dataclasses.replace(result, content=...)`); None to leave it. A call
    that was denied, did not run or was interrupted stays so, whatever is returned.
    A message is refused with `MessageOrderError`: return it from `after_tools`.
    Order: list order; each implementation sees the result as changed so far.
    Owns: call (as it ran) and result are frozen and may be kept.
    Since: 0.1
    """


@hookspec
def on_error(error: BaseException, tool_call: ToolCall | None, agent: Agent, session: Session) -> None:
    """Take note of a failure.

    Fires: when a tool raised, overran, is unknown or got bad arguments (just before its `after_each_tool`),
    when the model call failed, and when a plugin did (not for failures inside `on_error`, `on_event` and
    `on_complete`). `tool_call` is None where no call is concerned.
    Returns: nothing. A message is refused with `MessageOrderError`.
    Order: list order.
    Owns: the error may be kept.
    Since: 0.1
    """


@hookspec
def after_tools(tool_round: ToolRound, agent: Agent, session: Session) -> Messages | Stop | None:
    """React to a closed round: the place to add messages about tool results.

    Fires: once per round, when the last result is in and held messages are stored; not while a call waits, and
    not when a plugin failed in the round (`on_error` ends it then).
    Returns: messages, stored behind the round; `Stop(reason)`; None.
    Order: list order.
    Owns: the round is frozen and may be kept.
    Since: 0.1
    """


# ---- a turn ends ----


@hookspec
def before_complete(answer: str, agent: Agent, session: Session) -> Messages | None:
    """Let the turn end, or ask the model to go on.

    Fires: when the model answered without calls and nothing is queued for steering.
    Returns: messages: they are stored and the model is asked again, at most 3 times per plugin and turn;
    None: let it end.
    Order: list order.
    Owns: nothing.
    Since: 0.1
    """


@hookspec
def on_complete(outcome: Outcome, agent: Agent, session: Session) -> Messages | None:
    """Take note of how a turn ended.

    Fires: always, once per turn, with the named outcome: completed, failed, limit, refused, waiting,
    aborted or stopped.
    Returns: messages, kept for the next turn; they never restart this one. None. A failure here keeps
    answer and status, is listed with the run's errors, and makes the command exit with 1; no other turn
    begins in that run.
    Order: list order; every plugin is called.
    Owns: the outcome is frozen and may be kept.
    Since: 0.1
    """


@hookspec
def on_event(event: Event, agent: Agent, session: Session) -> None:
    """See everything that happens, as it happens.

    Fires: for each event, deltas and progress included, before anything goes on; plain `def` only.
    Returns: nothing. A failure stops the run at its next step; while a turn's end is announced, that is the
    next turn, and where none is due the failure is listed with the run's errors.
    Order: list order.
    Owns: events are frozen and may be kept.
    Since: 0.1
    """
