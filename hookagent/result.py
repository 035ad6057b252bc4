"""What a run gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from hookagent.errors import RunError
from hookagent.messages import UserMessage
from hookagent.usage import Usage

if TYPE_CHECKING:
    from hookagent.session import Session

Status = Literal["completed", "failed", "limit", "refused", "waiting", "aborted", "stopped"]
"""How a turn or a run ended (design, "Raising")."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a turn ended, as `on_complete` sees it.

    `reason` says why in words, empty for `completed`; `limit` is the name of the limit that was hit, or
    None; `usage` is this turn's alone.
    """

    status: Status
    answer: str
    reason: str = ""
    limit: str | None = None
    usage: Usage = Usage()
    turn: int = 0


@dataclass(frozen=True, slots=True)
class RunResult:
    """What `run` gives: `answer` and `status` of its last turn, `usage` of all its turns, the `session`.

    `reason` says in words why a run did not complete; `limit` is the name of the limit that was hit;
    `error_kind` the kind of the `ProviderError` that the model's side failed with;
    `not_stored` are prompts that a `Stop` (or a failure) kept out of the transcript; `errors` are texts of
    what failed without changing the outcome (an `on_complete` of a plugin), `warnings` of what was to be taken
    mildly (a listener, a plugin with `on_error: warn`). Its `str()` is the answer.
    """

    answer: str
    status: Status
    usage: Usage
    session: Session
    reason: str = ""
    limit: str | None = None
    error_kind: str | None = None
    iterations: int = 0
    tool_calls: int = 0
    seconds: float = 0.0
    not_stored: tuple[UserMessage, ...] = ()
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.answer

    @property
    def ok(self) -> bool:
        """Whether the run completed."""
        return self.status == "completed"

    def raise_for_status(self) -> RunResult:
        """Return the result itself if it completed, else raise `RunError`."""
        if self.status != "completed":
            raise RunError(self)
        return self
