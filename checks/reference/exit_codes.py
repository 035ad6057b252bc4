"""docs/reference/exit-codes.md: each status of a run and what the command makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from checks.reference.markdown import table
from hookagent.cli.closing import exit_code
from hookagent.cli.failure import FAILED, INTERRUPTED, LIMIT, REFUSED, TERMINATED, USAGE
from hookagent.limits import Limits
from hookagent.result import RunResult, Status
from hookagent.session import Session, SessionState
from hookagent.usage import Usage

_CODES: Mapping[int, str] = {
    0: "the run completed",
    FAILED: "the run failed, or was stopped by a plugin; or a plugin failed while the end was announced",
    USAGE: "what was typed or configured cannot be used: options, YAML, plugins, tools, the model or its key",
    LIMIT: "a limit was hit",
    REFUSED: "a call was refused because nobody could be asked, a person quit, or the session waits for an answer",
    INTERRUPTED: "interrupted (Ctrl-C)",
    TERMINATED: "terminated (SIGTERM)",
}
_STATUSES: Mapping[str, str] = {
    "completed": "the model answered; also when a call was denied on the way, by a rule or a person, and it went on",
    "failed": "the model's side failed, or a plugin did",
    "limit": "a limit ended it; `limit` names it",
    "refused": "a call was refused because nobody could be asked, or a person quit at the question",
    "waiting": "calls wait for an answer; the next `run` or `continue_` puts them to it",
    "aborted": "`abort()`, a signal, or the caller's own cancellation",
    "stopped": "a plugin returned `Stop`",
}


def page() -> str:
    """The text of the page."""
    codes = table(("code", "meaning"), ((str(code), meaning) for code, meaning in sorted(_CODES.items())))
    rows = ((f"`{status}`", str(_code(status)), _STATUSES[status]) for status in get_args(Status))
    statuses = table(("status", "code", "meaning"), rows)
    return (
        "# Exit codes\n\n"
        f"What `hookagent run` exits with. The other commands give 0, {FAILED} or {USAGE}.\n\n"
        f"{codes}\n"
        "## Statuses\n\n"
        "`RunResult.status` in Python, `status` in the last line of `--json`, and the exit code it becomes. "
        "An abort that a signal caused gives that signal's code; of several signals the first one decides, also where "
        "the second one ends the process at once.\n\n"
        f"{statuses}"
    )


def _code(status: Status) -> int:
    return exit_code(RunResult("", status, Usage(), Session(SessionState(Limits()))))
