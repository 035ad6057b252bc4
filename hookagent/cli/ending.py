"""What every command that works with an agent says at its beginning and does at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookagent.cli.closing import explanation
from hookagent.cli.console import Console
from hookagent.cli.failure import FAILED, report
from hookagent.cli.misspelt import misspelt_rules
from hookagent.cli.options import Choices
from hookagent.cli.session_options import say_session

if TYPE_CHECKING:
    from hookagent.agent import Agent
    from hookagent.result import RunResult


def begin(console: Console, choices: Choices, quiet: bool) -> Agent:
    """Make the agent of the configuration and the options, and say which model answers and which session goes on.

    Raises `ConfigurationError`; the session, if one was named, is given back then.
    """
    from hookagent.cli.build import build_agent, read_choices, refuse_unguarded

    loaded = read_choices(choices)
    agent = build_agent(loaded, choices)
    try:
        refuse_unguarded(agent, loaded)
        say_model(console, agent, quiet)
    except BaseException:
        agent.close_sync()
        raise
    if choices.session is not None and not quiet:
        say_session(console, agent)
    for warning in misspelt_rules(loaded, choices, (tool.name for tool in agent.tools)):
        console.say(f"hookagent: warning: {warning}")
    return agent


def say_model(console: Console, agent: Agent, quiet: bool) -> None:
    """Say which model answers and what it can do, before anything is asked of it.

    Raises `ConfigurationError` when there is no model, or no key for it, also with `quiet`, where nothing is said.
    """
    from hookagent.providers.keys import assert_ready

    assert_ready(agent.provider)
    notice = agent.provider.notice
    if not quiet:
        console.say(f"model {agent.model}" + (f": {notice}" if notice else ""))


def explain(console: Console, result: RunResult, errors: list[str], *, told: bool) -> None:
    """Say why a run did not complete, unless that was `told` already, and what failed beside it.

    What is said is added to `errors`, masked; when there are some already, they are the explanation.
    """
    why = explanation(result)
    if why is not None and not errors:
        if not told:
            console.say(f"hookagent: {why}")
        errors.append(console.mask(result.reason or result.status))
    for error in result.errors:
        masked = console.mask(error)
        if masked not in errors:
            console.say(f"hookagent: error: {error}")
            errors.append(masked)
    for warning in result.warnings:
        if not console.was_told(warning):
            console.say(f"hookagent: warning: {warning}")


def close_agent(console: Console, agent: Agent, code: int, errors: list[str], debug: bool) -> int:
    """End the session, and look whether a script was used up; what fails here keeps the answer and gives 1."""
    steps = [agent.close_sync]
    finished = getattr(agent.provider, "assert_finished", None)
    if finished is not None and code == 0:
        steps.append(finished)
    before = agent.last_result
    for step in steps:
        try:
            step()
        except Exception as error:
            errors.extend(report(console, error, debug)[1])
            code = code or FAILED
    after = agent.last_result
    if before is not None and after is not None:
        # The first of what plugins failed with at the end was raised; the others are told as well.
        for said in after.errors[len(before.errors) :]:
            masked = console.mask(said)
            if masked not in errors:
                console.say(f"hookagent: error: {said}")
                errors.append(masked)
    return code
