"""The plugin: the rules suspend calls, and a person at the terminal answers for them."""

from __future__ import annotations

import collections
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from hookagent import Amend, Approve, Deny, PendingCall, Stop, Suspend, hookimpl, visible_text
from hookagent_human_approval.asking import Question, Reply, ask_in_time
from hookagent_human_approval.decisions import ALWAYS, NOBODY, ONCE, PERSON, Decided, log_decision
from hookagent_human_approval.rules import Decision, Rules, parse_pattern
from hookagent_human_approval.show import show_calls
from hookagent_human_approval.subject import fingerprint, subject_of
from hookagent_human_approval.terminal import Terminal, open_terminal
from hookagent_human_approval.turns import Turns

if TYPE_CHECKING:
    from hookagent import Agent, Session, ToolCall

_DECISIONS_KEPT = 1000
_TURNS = Turns()
_NOBODY_TEXT = "nobody can be asked: there is no terminal, and no rule allows this call of '{}'"
_CHANGED_TEXT = "a plugin changed the arguments after a person had said yes to others"
_QUIT_TEXT = "the person at the terminal quit"


def _checked(text: str) -> str:
    parse_pattern(text)
    return text


_Pattern = Annotated[str, AfterValidator(_checked)]


class HumanApproval:
    """Asks a person, at the terminal, before a call may run that is not known to be harmless.

    By the rules, a call is refused, runs, or is suspended until a person has answered. All open calls of a round are
    shown before any of them runs, with exactly the arguments that will run. Only a clear yes is a yes. Where nobody can
    be asked the answer is no, and the run ends as `refused`, or by option the session waits.
    """

    name = "human-approval"
    time_limit = None  # a person may take any time

    class Options(BaseModel):
        """The options of `human-approval`."""

        model_config = ConfigDict(frozen=True, extra="forbid")

        ask: list[_Pattern] = Field(
            default=[], description="Calls to ask about: tool names, globs, or `name(argument=glob)`."
        )
        allow: list[_Pattern] = Field(default=[], description="Calls that run without a question.")
        deny: list[_Pattern] = Field(default=[], description="Calls that never run.")
        unattended: Literal["deny", "wait"] = Field(
            default="deny",
            description="What happens when nobody can be asked: `deny`, or `wait`: the session waits for an answer.",
        )
        timeout_seconds: float | None = Field(
            default=None, gt=0, description="How long to wait for each answer; none in time is a no. None: any time."
        )
        shown_chars: int = Field(
            default=2000, ge=40, description="The most characters shown of one argument; longer ones show their ends."
        )

    def __init__(
        self,
        options: HumanApproval.Options | None = None,
        *,
        open_terminal: Callable[[], Terminal | None] = open_terminal,
    ) -> None:
        self.options = options or self.Options()
        self.decisions: collections.deque[Decided] = collections.deque(maxlen=_DECISIONS_KEPT)
        self._open_terminal = open_terminal
        self._rules = Rules(deny=self.options.deny, ask=self.options.ask, allow=self.options.allow)
        # By session: what may always run and who had asked about it then; and the calls that were answered with yes.
        self._always: dict[str, dict[str, frozenset[str]]] = {}
        self._approved: dict[str, dict[str, str]] = {}

    @hookimpl
    def before_tools(
        self, tool_calls: Sequence[ToolCall], agent: Agent, session: Session
    ) -> Mapping[str, Suspend] | None:
        """Suspend what is to be asked about, for the whole round at once, so that a person sees all of it."""
        suspended: dict[str, Suspend] = {}
        approved = self._approved.get(session.id, {})
        for call in tool_calls:
            judged = self._judge(call, agent)
            if judged is not None and judged[0].action == "ask" and approved.get(call.id) != judged[1]:
                suspended[call.id] = Suspend(judged[0].reason)
        return suspended or None

    @hookimpl
    def before_each_tool(self, tool_call: ToolCall, agent: Agent, session: Session) -> Deny | None:
        """Refuse what a rule forbids, also after an edit, and what is not any more what a person said yes to."""
        judged = self._judge(tool_call, agent)
        if judged is None:
            return None
        decision, exact = judged
        if self._approved.get(session.id, {}).get(tool_call.id, exact) != exact:
            self._note(tool_call, session, exact, "denied", self.name, ONCE, _CHANGED_TEXT)
            return Deny(_CHANGED_TEXT)
        if decision.rule is None or decision.action == "ask":
            return None
        denied = decision.action == "deny"
        self._note(tool_call, session, exact, "denied" if denied else "approved", f"the rule '{decision.rule}'", ONCE)
        return Deny(decision.reason) if denied else None

    @hookimpl
    async def resolve_suspended(
        self, pending: tuple[PendingCall, ...], session: Session
    ) -> Mapping[str, Approve | Deny | Amend | Stop] | None:
        """Ask the person at the terminal about each call, unless they said "always" to exactly this one."""
        answers: dict[str, Approve | Deny | Amend | Stop] = {}
        questions: list[PendingCall] = []
        for one in pending:
            if self._is_granted(one, session):
                answers[one.call.id] = self._grant(one, session)
            else:
                questions.append(one)
        if questions:
            terminal = self._open_terminal()
            if terminal is not None:
                async with _TURNS:
                    await self._ask(terminal, questions, session, answers)
            elif self.options.unattended == "deny":
                for one in questions:
                    reason = _NOBODY_TEXT.format(one.call.name)
                    self._note(one.call, session, _exact(one), "denied", NOBODY, ONCE, reason)
                    answers[one.call.id] = Deny(reason, unanswered=True)
        return answers or None

    @hookimpl
    def after_tools(self, session: Session) -> None:
        """Forget which calls of the round were answered: an answer is used up."""
        self._approved.pop(session.id, None)

    @hookimpl
    def on_session_end(self, session: Session) -> None:
        """Forget what was said for the session."""
        self._approved.pop(session.id, None)
        self._always.pop(session.id, None)

    def _judge(self, call: ToolCall, agent: Agent) -> tuple[Decision, str] | None:
        """What the rules say to a call, and its fingerprint; None for one that cannot run."""
        tool = agent.tools.get(call.name)
        if tool is None or call.arguments is None:
            return None
        return self._rules.decide(subject_of(tool, call.arguments)), fingerprint(tool, call.arguments)

    async def _ask(
        self,
        terminal: Terminal,
        questions: Sequence[PendingCall],
        session: Session,
        answers: dict[str, Approve | Deny | Amend | Stop],
    ) -> None:
        shown_chars = self.options.shown_chars
        before = show_calls(questions, shown_chars=shown_chars, width=terminal.width)
        for number, one in enumerate(questions, 1):
            if self._is_granted(one, session):  # the same call stands in the round twice
                answers[one.call.id] = self._grant(one, session)
                continue
            heading = f"[{number} of {len(questions)}] {visible_text(one.call.name)}:"
            question = Question(terminal, one, heading, before, shown_chars)
            before = ""
            reply = await ask_in_time(question, self.options.timeout_seconds)
            answers[one.call.id] = self._take(one, reply, session)
            if reply.answer == "quit":
                return

    def _take(self, one: PendingCall, reply: Reply, session: Session) -> Approve | Deny | Amend | Stop:
        """Turn a person's reply into the answer, and remember it."""
        call, exact = one.call, _exact(one)
        if reply.answer == "quit":
            self._note(call, session, exact, "stopped", PERSON, "this run", _QUIT_TEXT)
            return Stop(_QUIT_TEXT)
        if reply.answer == "no":
            by = NOBODY if reply.timed_out else PERSON
            self._note(call, session, exact, "denied", by, ONCE, reply.reason)
            if reply.timed_out:
                return Deny(reply.reason, unanswered=True)
            return Deny(f"a person said no: {reply.reason}" if reply.reason else "a person said no")
        will_run = exact if reply.edited is None else fingerprint(one.tool, reply.edited)
        if reply.always:
            asked_by = frozenset(plugin for plugin, _ in one.asked_by)
            self._always.setdefault(session.id, {})[will_run] = asked_by
        self._approved.setdefault(session.id, {})[call.id] = will_run
        self._note(call, session, exact, "approved", PERSON, ALWAYS if reply.always else ONCE, edited=reply.edited)
        return Approve("a person said yes") if reply.edited is None else Amend(reply.edited)

    def _is_granted(self, one: PendingCall, session: Session) -> bool:
        """Whether a person said "always" to exactly this, when the same plugins had asked as now."""
        asked_then = self._always.get(session.id, {}).get(_exact(one))
        return asked_then is not None and asked_then.issuperset(plugin for plugin, _ in one.asked_by)

    def _grant(self, one: PendingCall, session: Session) -> Approve:
        exact = _exact(one)
        self._approved.setdefault(session.id, {})[one.call.id] = exact
        self._note(one.call, session, exact, "approved", PERSON, ALWAYS, "said before")
        return Approve("a person said always")

    def _note(
        self,
        call: ToolCall,
        session: Session,
        exact: str,
        answer: Literal["approved", "denied", "stopped"],
        by: str,
        scope: str,
        reason: str = "",
        edited: Mapping[str, object] | None = None,
    ) -> None:
        decided = Decided(
            session.id, call.id, call.name, call.arguments or {}, exact, answer, by, scope, reason, edited
        )
        self.decisions.append(decided)
        log_decision(decided)


def _exact(one: PendingCall) -> str:
    return fingerprint(one.tool, one.call.arguments or {})
