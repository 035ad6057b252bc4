"""`hookagent run`: one task, from the words that were typed to the exit code."""

from __future__ import annotations

import shlex
from contextlib import ExitStack, nullcontext
from typing import TYPE_CHECKING, Any

import click

from hookagent.cli.console import Console
from hookagent.cli.limit_options import limit_options, take_limits
from hookagent.cli.options import Choices, agent_options, approval_options, pass_console
from hookagent.cli.session_options import session_options, take_session

if TYPE_CHECKING:
    from hookagent.agent import Agent
    from hookagent.cli.answer import Answer
    from hookagent.cli.signals import Interrupts
    from hookagent.result import RunResult


@click.command(short_help="Work on a task until it is done, and print the answer.")
@click.argument("task", nargs=-1)
@click.option("-v", "--verbose", is_flag=True, help="One line for each tool call, and the time of hooks.")
@click.option("-q", "--quiet", is_flag=True, help="Nothing but the answer, and errors.")
@click.option("--json", "as_json", is_flag=True, help="One event a line on standard output, the result last.")
@limit_options
@session_options
@approval_options
@agent_options
@pass_console
def run(
    console: Console, /, task: tuple[str, ...], verbose: bool, quiet: bool, as_json: bool, debug: bool, **chosen: Any
) -> int:
    """Work on TASK until it is done, and print the answer.

    The answer goes to standard output, everything else to standard error. Without TASK, or with '-', the task is
    read from standard input. With both a TASK and piped text, the text follows the task, fenced as data.
    Without -t and 'tools:', the model gets the tools of the set 'files'.
    Without a list of plugins: tool-logging, context-window and human-approval.

    With --continue or --session, calls that wait for an answer are put to whoever answers them before the TASK is
    looked at. Without TASK, the session goes on from where it stopped.
    """
    from hookagent.cli.ending import begin
    from hookagent.cli.failure import UsageProblem
    from hookagent.cli.logs import logging_to
    from hookagent.cli.task import read_task, read_task_if_any

    if quiet and verbose:
        raise UsageProblem("-q and -v: they exclude each other; leave one out")
    if len(task) > 1:
        raise UsageProblem(f"{shlex.quote(task[1])}: a second task; put one task in quotes, and options before a '--'")
    limits = take_limits(chosen)
    session = take_session(chosen)
    choices = Choices(limits=limits, session=session, **chosen)
    prompt = (read_task if session is None else read_task_if_any)(task[0] if task else None, console)
    with nullcontext() if debug else logging_to(console, debug=False, quiet=quiet):
        agent = begin(console, choices, quiet)
        return _work(console, agent, prompt, verbose=verbose, quiet=quiet, as_json=as_json, debug=debug)


def _work(
    console: Console, agent: Agent, prompt: str | None, *, verbose: bool, quiet: bool, as_json: bool, debug: bool
) -> int:
    from hookagent.cli.answer import Answer
    from hookagent.cli.closing import closing_line, exit_code, hook_line
    from hookagent.cli.ending import close_agent, explain
    from hookagent.cli.failure import FAILED
    from hookagent.cli.json_lines import JsonLines, failure_line, result_line
    from hookagent.cli.progress import Progress, Ticker
    from hookagent.cli.signals import Interrupts

    progress = Progress(console, quiet=quiet, verbose=verbose)
    answer = Answer(console, live=console.live and not quiet and not as_json)
    with ExitStack() as stack:
        interrupts = stack.enter_context(Interrupts(agent.abort, console, grace_seconds=agent.grace_seconds))
        with Ticker(progress, console):
            agent.subscribe(progress)
            agent.subscribe(JsonLines(console) if as_json else answer)
            agent.subscribe(_watch(console, agent, interrupts, as_json))
            result, code, errors = _run(console, agent, prompt, debug)
        if result is not None:
            code = max(code, exit_code(result, interrupts.code))
            code = _finish(console, None if as_json else answer, result, code, errors, debug)
            explain(console, result, errors, told=interrupts.received is not None or console.reader_gone)
        signalled = interrupts.received is not None
        code = close_agent(console, agent, code, errors, debug)
        if not signalled and interrupts.code is not None:
            code = interrupts.code  # the answer stands, but what plugins do at the end was cut short
        if not quiet and result is not None:
            if verbose and (hooks := hook_line(result.session)) is not None:
                console.say(hooks)
            console.say(closing_line(result, progress.tool_calls, progress.denied))
        if as_json:
            last = (
                result_line(console, result, code, errors)
                if result is not None
                else failure_line(code or FAILED, errors)
            )
            console.write(last)
            console.json_ended = True
    return code


def _watch(console: Console, agent: Agent, interrupts: Interrupts, as_json: bool) -> Any:
    """A listener for what may have come before the run could be aborted, or while nobody looked."""

    def watch(event: Any) -> None:
        if event.type == "agent_start":
            interrupts.abort_again()
        if as_json and console.failure is not None:
            agent.abort("standard output cannot be written")
        elif as_json and console.reader_gone:
            agent.abort("nobody reads standard output any more")

    return watch


def _run(console: Console, agent: Agent, prompt: str | None, debug: bool) -> tuple[RunResult | None, int, list[str]]:
    """Run, or run on without a prompt; give the result (also of a run that a plugin's failure ended), the code so far,
    and what was said.
    """
    from hookagent.cli.failure import UsageProblem, report
    from hookagent.errors import MisuseError
    from hookagent.private_loop import run_in_private_loop
    from hookagent.work import contained

    # In the private loop, so that this thread stays free for signals, even while a hook blocks the loop; contained,
    # because a keyboard interrupt that a tool raises must come here as a value and not end that loop.
    ended = run_in_private_loop(
        lambda: contained(agent.continue_() if prompt is None else agent.run(prompt)), "use the Python interface there"
    )
    error = ended.error
    if error is None:
        return agent.last_result, 0, []
    if prompt is None and isinstance(error, MisuseError):
        session = agent.session.id
        error = UsageProblem(
            f"session '{session}': ends with an answer, and nothing waits in it; give it a task, as in: "
            f'hookagent run --session {session} "..."'
        )
    code, problems = report(console, error, debug)
    return agent.last_result, code, problems


def _finish(
    console: Console, answer: Answer | None, result: RunResult, code: int, errors: list[str], debug: bool
) -> int:
    """Write the answer; where there is no room for it, the session is closed in order all the same."""
    from hookagent.cli.failure import FAILED, report

    try:
        if answer is not None:
            answer.finish(result)
        elif console.failure is not None:
            raise console.failure
    except OSError as error:
        errors.extend(report(console, error, debug)[1])
        return code or FAILED
    return code
