"""How a run ended: its exit code, what is said about it, and the closing line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookagent.cli.failure import FAILED, INTERRUPTED, LIMIT, REFUSED, USAGE
from hookagent.cli.limit_options import advice
from hookagent.counting import counted

if TYPE_CHECKING:
    from hookagent.result import RunResult, Status
    from hookagent.session import Session
    from hookagent.usage import Usage

_CODES: dict[Status, int] = {
    "completed": 0,
    "failed": FAILED,
    "stopped": FAILED,
    "limit": LIMIT,
    "refused": REFUSED,
    "waiting": REFUSED,
    "aborted": FAILED,
}
_WORDS: dict[Status, str] = {
    "completed": "done in",
    "failed": "failed after",
    "stopped": "stopped after",
    "limit": "ended by a limit after",
    "refused": "refused after",
    "waiting": "waiting after",
    "aborted": "interrupted after",
}


def exit_code(result: RunResult, signalled: int | None = None) -> int:
    """The exit code of a run (design, "Exit codes").

    `signalled` is the code of the signal that aborted it. A model that cannot be asked as it is set up (no key, a
    setting it does not take) is a configuration error. A completed run whose `on_complete` failed gives 1; what a
    plugin's `on_error: warn` or `disable` softened does not count.
    """
    if result.status == "aborted":
        return signalled if signalled is not None else INTERRUPTED if result.reason == "interrupted" else FAILED
    if result.status == "failed" and result.error_kind in ("configuration", "unsupported_setting"):
        return USAGE
    code = _CODES[result.status]
    return FAILED if code == 0 and result.errors else code


def explanation(result: RunResult) -> str | None:
    """Why a run did not complete, as one line; None for one that did."""
    if result.status == "completed":
        return None
    reason = result.reason or "no reason was given"
    if result.status == "failed":
        return f"error: {reason}"
    if result.status == "limit":
        return f"limit: {reason}{advice(result.limit, reason)}"
    word = "interrupted" if result.status == "aborted" else result.status
    return word if reason == word else f"{word}: {reason}"


def closing_line(result: RunResult, tool_calls: int, denied: int) -> str:
    """The one line about a whole run; `tool_calls` are those with a result, `denied` those of them that were."""
    usage = result.usage
    calls = counted(tool_calls, "tool call") + (f" ({denied} denied)" if denied else "")
    return (
        f"{_WORDS[result.status]} {counted(result.iterations, 'iteration')}, {calls}, "
        f"{amount(usage.prompt_tokens)} in / {amount(usage.output_tokens)} out, {cost_text(usage)}, "
        f"{result.seconds:.1f} s, session {result.session.id}"
    )


def hook_line(session: Session) -> str | None:
    """The time that each plugin's hooks took, as one line; None where there was no call."""
    parts = [
        f"{plugin} {counted(calls, 'call')} {seconds * 1000:.1f} ms"
        for plugin, (calls, seconds) in session.hook_calls.items()
    ]
    return f"hooks: {', '.join(parts)}" if parts else None


def amount(count: int) -> str:
    """A count as people write it: 999, 1.2k, 3.4M."""
    if count >= 999_950:
        return f"{count / 1_000_000:.1f}M"
    return f"{count / 1_000:.1f}k" if count >= 1_000 else str(count)


def cost_text(usage: Usage) -> str:
    """What was paid, as people write it: "$0.012", or "price unknown"."""
    dollars = usage.cost_usd
    if dollars is None:
        return "price unknown"
    if dollars == 0:
        return "$0"
    return f"${dollars:.4f}" if dollars < 0.01 else f"${dollars:.3f}" if dollars < 1 else f"${dollars:.2f}"
