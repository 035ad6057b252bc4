"""The hooks of the plugin `reflection`."""

from __future__ import annotations

import logging
from collections import deque
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from hookagent import ToolRound, hookimpl
from hookagent_reflection.digest import CHECK_SYSTEM, REFLECT_SYSTEM, check_prompt, cut, reflect_prompt
from hookagent_reflection.side_model import SideModel

if TYPE_CHECKING:
    from hookagent import Agent, Session, UserMessage

log = logging.getLogger("hookagent.reflection")

MOST_ROUNDS = 8
"""How many of a turn's newest rounds one question shows at most."""
MOST_FAILURES = 3
"""After so many failed questions in a row a session is left in peace."""
_MOST_OBSERVATION_CHARACTERS = 2_000
_ENDED = {"not_run", "interrupted"}
_GOES_ON = {"CutReply", "TimeLimit"}


class AnswerCheck(BaseModel):
    """Whether an answer does what was asked."""

    model_config = ConfigDict(extra="forbid")

    complete: bool = Field(description="whether the answer does everything that was asked")
    missing: str = Field(description="what is missing or wrong, in one or two sentences; empty if nothing is")


class Reflection:
    """Asks a model, after tool rounds, what was learned, and adds it as a user-role observation.

    With `check_answer` it also has the final answer checked against the task before the turn may end, and sends the
    agent back when something is missing. Its tokens and cost are booked to `reflection`. A question that fails is
    logged (logger `hookagent.reflection`), counted in `failures`, and the run goes on, unless `required` is set.
    """

    name = "reflection"
    time_limit: float | None = None  # each question has the limit `timeout_seconds`

    class Options(BaseModel):
        """What can be set; see the README."""

        model_config = ConfigDict(frozen=True, extra="forbid")

        when: Literal["always", "errors"] = Field(
            default="always", description="reflect on every tool round, or only on those in which a call failed"
        )
        every: int = Field(default=1, ge=1, description="reflect after each n-th of these rounds")
        model: Any = Field(
            default=None,
            description="the model that is asked, as `provider:model` (in Python also a provider); none: the agent's",
        )
        check_answer: bool = Field(
            default=False, description="check the final answer against the task before the turn may end"
        )
        max_checks: int = Field(
            default=1, ge=1, le=3, description="how often the answer to one message is checked at most"
        )
        required: bool = Field(
            default=False, description="a question that fails stops the run, instead of being logged"
        )
        max_result_chars: int = Field(
            default=2_000, ge=100, description="how much of each tool result the question shows"
        )
        timeout_seconds: float = Field(default=60.0, gt=0, description="how long one question may take")

        @field_validator("model")
        @classmethod
        def _model_can_be_asked(cls, value: Any) -> Any:
            if value is None or (isinstance(value, str) and value.strip()) or hasattr(value, "stream"):
                return value
            raise ValueError("expected a model's name as 'provider:model', or a provider")

    def __init__(self, options: Options | None = None) -> None:
        self.options = options or self.Options()
        self.failures = 0
        self._side_model = SideModel(self.name, self.options.model, self.options.timeout_seconds)
        self._sessions: dict[str, _Progress] = {}

    @hookimpl
    def after_user_input(self, message: UserMessage, session: Session) -> None:
        """Note what was asked; a new message may be answered and checked anew."""
        progress = self._progress(session)
        progress.asked.append(message.text)
        progress.checks = 0

    @hookimpl
    async def after_tools(self, tool_round: ToolRound, agent: Agent, session: Session) -> str | None:
        """Ask what the round showed, if it is due; the observation stands behind the round."""
        options, progress = self.options, self._progress(session)
        progress.rounds.append(tool_round)
        if options.when == "errors" and not any(result and result.is_error for result in tool_round.results):
            return None
        progress.due.append(tool_round)
        progress.since += 1
        if progress.since < options.every or _run_ends(tool_round):
            return None
        prompt = reflect_prompt(progress.task(session), progress.due, options.max_result_chars)
        progress.since = 0
        progress.due.clear()
        text = await self._ask(progress, agent, "observation", prompt, REFLECT_SYSTEM)
        text = "" if text is None else str(text).strip()
        return f"Observation: {cut(text, _MOST_OBSERVATION_CHARACTERS)}" if text else None

    @hookimpl
    async def before_complete(self, answer: str, agent: Agent, session: Session) -> str | None:
        """Have the answer checked, if that is wanted, and say what is missing."""
        options, progress = self.options, self._progress(session)
        task = progress.task(session)
        if not options.check_answer or progress.checks >= options.max_checks or not task.strip():
            return None
        progress.checks += 1
        prompt = check_prompt(task, answer, progress.rounds, options.max_result_chars)
        check = await self._ask(progress, agent, "check of the answer", prompt, CHECK_SYSTEM, AnswerCheck)
        if check is None or check.complete:
            return None
        missing = cut(check.missing.strip(), _MOST_OBSERVATION_CHARACTERS) or "it does not do what was asked"
        return f"Check of the answer: it is not complete yet. {missing}\nGive the whole answer again, with this in it."

    @hookimpl
    def on_session_end(self, session: Session) -> None:
        """Forget the session."""
        self._sessions.pop(session.id, None)

    def _progress(self, session: Session) -> _Progress:
        progress = self._sessions.setdefault(session.id, _Progress())
        progress.enter(session.turn)
        return progress

    async def _ask(
        self, progress: _Progress, agent: Agent, what: str, prompt: str, system: str, output: type[Any] | None = None
    ) -> Any:
        """The side model's answer, or None when it failed and may."""
        if progress.failures >= MOST_FAILURES and not self.options.required:
            return None
        try:
            answer = await self._side_model.ask(agent, prompt, system=system, output=output)
        except Exception as error:
            self.failures += 1
            progress.failures += 1
            if self.options.required:
                raise
            rest = "; not asked again in this session" if progress.failures == MOST_FAILURES else "; the run goes on"
            log.warning("reflection: no %s: %s%s", what, str(error) or type(error).__name__, rest)
            return None
        progress.failures = 0
        return answer


class _Progress:
    """What the plugin knows of one session; what belongs to a turn is forgotten when the next one begins."""

    def __init__(self) -> None:
        self.turn = 0
        self.asked: list[str] = []
        self.rounds: deque[ToolRound] = deque(maxlen=MOST_ROUNDS)
        self.due: deque[ToolRound] = deque(maxlen=MOST_ROUNDS)
        self.since = 0
        self.checks = 0
        self.failures = 0

    def enter(self, turn: int) -> None:
        """Go on to `turn`, if it is not the current one."""
        if self.turn != turn:
            self.turn = turn
            self.asked.clear()
            self.rounds.clear()
            self.due.clear()
            self.since = self.checks = 0

    def task(self, session: Session) -> str:
        """Everything that was asked in this turn; a resumed turn has no message of its own."""
        return "\n\n".join(self.asked) or session.user_prompt


def _run_ends(tool_round: ToolRound) -> bool:
    """Whether the round was closed because the run is over, so that nobody would read an observation."""
    return any(
        result is not None and result.status in _ENDED and result.error_type not in _GOES_ON
        for result in tool_round.results
    )
