"""Waiting where nothing is to be waited for, and misuse that is told at once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hookagent import Agent, MisuseError, PluginLoadError, hookimpl
from hookagent.abort import AbortSignal
from hookagent.config.yaml_errors import explain
from hookagent.supervise import Supervisor
from hookagent.testing import FakeClock
from hookagent.work import Work
from tests.core.scripts import make_agent


async def endless() -> None:
    await asyncio.Event().wait()


async def done() -> str:
    return "done"


def test_what_is_done_already_is_not_waited_for_even_after_an_abort() -> None:
    async def main() -> None:
        abort = AbortSignal()
        supervisor = Supervisor(FakeClock(), abort, 5.0)
        task, work = asyncio.create_task(done()), Work(supervisor.loop, done())
        assert await supervisor.until(task) == "done"
        assert await supervisor.ended(work) == "done"
        abort.set("enough")
        assert await supervisor.until(task) == "done"
        assert await supervisor.ended(work) == "done"
        assert await supervisor.until(task, heed_abort=False) == "done"

    asyncio.run(main())


def test_after_an_abort_nothing_is_waited_for_that_heeds_it() -> None:
    async def main() -> None:
        abort = AbortSignal()
        supervisor = Supervisor(FakeClock(), abort, 5.0)
        abort.set("enough")
        task, work = asyncio.create_task(endless()), Work(supervisor.loop, endless())
        assert await supervisor.until(task) == "aborted"
        assert await supervisor.ended(work) == "aborted"
        assert not task.done()
        task.cancel()
        assert await supervisor.until(task, heed_abort=False) == "done"
        await supervisor.cancel(work)
        assert work.outcome is not None

    asyncio.run(main())


@pytest.mark.parametrize(("prompt", "kind"), [([5], "int"), (["text", None], "NoneType")])
def test_a_list_of_prompts_holds_prompts_only(prompt: list[Any], kind: str) -> None:
    with pytest.raises(MisuseError, match=f"^a prompt is text or a UserMessage, not a {kind}$"):
        make_agent([]).run_sync(prompt)


def test_a_plugin_class_without_its_brackets_is_told_so() -> None:
    class Plugin:
        name = "plugin"

        @hookimpl
        def before_llm(self, iteration: int) -> None:
            """Do nothing."""

    with pytest.raises(PluginLoadError, match=r"a class was given where an instance is meant \(forgotten the \(\)\?\)"):
        Agent(plugins=[Plugin], log=False, quiet=True)


def test_a_model_by_name_is_made_when_it_is_first_wanted(tmp_path: Any) -> None:
    script = tmp_path / "replies.yaml"
    script.write_text("- done\n")
    agent = Agent(model=f"scripted:{script}", log=False, quiet=True)
    assert agent.provider is agent.provider
    assert agent.provider.name == "scripted"
    assert agent.run_sync("go").answer == "done"


def test_an_error_of_yaml_without_a_place_is_told_without_one() -> None:
    import yaml

    place, text = explain(yaml.YAMLError("odd"), "agent.yaml", "")
    assert (str(place), text) == ("agent.yaml", "this is not valid YAML")
