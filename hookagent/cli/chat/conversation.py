"""One session of an agent, turn after turn, whoever reads the lines: runs a turn, and says how it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hookagent.cli.closing import closing_line, exit_code, hook_line
from hookagent.cli.console import Console
from hookagent.cli.ending import close_agent, explain
from hookagent.cli.failure import FAILED, TERMINATED, report
from hookagent.cli.progress import Progress, Ticker
from hookagent.private_loop import run_in_private_loop
from hookagent.work import contained

if TYPE_CHECKING:
    from hookagent.agent import Agent
    from hookagent.cli.chat.view import View
    from hookagent.events import Event
    from hookagent.result import RunResult


class Wishes(NamedTuple):
    """How much is said on standard error: `quiet` nothing but errors, `verbose` also hooks, `debug` tracebacks."""

    quiet: bool = False
    verbose: bool = False
    debug: bool = False


class Conversation:
    """The session of `agent`, shown by `view`.

    `running` says that a turn is under way, `code` is the exit code of the last one (design, "Exit codes"). `abort`
    may be called from any thread and from signal handlers; everything else belongs to one thread at a time, which
    must have no event loop.
    """

    def __init__(self, console: Console, agent: Agent, view: View, wishes: Wishes) -> None:
        self.console, self.agent, self.wishes = console, agent, wishes
        self.running = False
        self.code = 0
        self._view = view
        self._aborted: str | None = None

    def abort(self, reason: str) -> None:
        """End the turn that is under way, also one that is only just beginning; not to be called between turns."""
        self._aborted = reason
        self.agent.abort(reason)

    def turn(self, prompt: str | None) -> bool:
        """Work on a prompt (None: on what is queued) until the agent gives control back; whether that completed."""
        self.running = True
        try:
            result, errors = self._work(prompt)
            return result is not None and result.ok and not errors and self._aborted is None
        finally:
            self.running = False
            # Not at the beginning, where it would undo an abort that was quicker than the turn.
            self._aborted = None

    def close(self, code: int) -> int:
        """End the session; give the exit code, which `code` was so far."""
        return close_agent(self.console, self.agent, code, [], self.wishes.debug)

    def _work(self, prompt: str | None) -> tuple[RunResult | None, list[str]]:
        wishes, agent, console = self.wishes, self.agent, self.console
        progress = Progress(console, quiet=wishes.quiet, verbose=wishes.verbose)
        before = agent.last_result
        unsubscribe = [agent.subscribe(one) for one in (progress, self._view, self._watch)]
        errors: list[str] = []
        self._view.begin()
        try:
            with Ticker(progress, console):
                # In the private loop, so that neither keys nor signals wait for a hook that blocks its loop.
                ended = run_in_private_loop(
                    lambda: contained(agent.continue_() if prompt is None else agent.run(prompt)),
                    "use the Python interface there",
                )
        finally:
            for end in unsubscribe:
                end()
        result = agent.last_result if agent.last_result is not before else None
        self.code = 0
        if ended.error is not None:
            self.code, errors = report(console, ended.error, wishes.debug)
        if result is not None:
            self._end(result, errors, progress)
        return result, errors

    def _end(self, result: RunResult, errors: list[str], progress: Progress) -> None:
        console, wishes = self.console, self.wishes
        signalled = TERMINATED if self._aborted == "terminated" else None
        self.code = max(self.code, exit_code(result, signalled))
        try:
            self._view.finish(result)
        except OSError as error:
            errors.extend(report(console, error, wishes.debug)[1])
            self.code = self.code or FAILED
        explain(console, result, errors, told=self._aborted is not None)
        for message in result.not_stored:
            console.say(f"hookagent: not stored: {message.text}")
        if wishes.verbose and (hooks := hook_line(result.session)) is not None:
            console.say(hooks)
        if not wishes.quiet:
            console.say(closing_line(result, progress.tool_calls, progress.denied))

    def _watch(self, event: Event) -> None:
        # The wish to end it may have come before there was a run that could be ended.
        if event.type == "agent_start" and self._aborted is not None:
            self.agent.abort(self._aborted)
