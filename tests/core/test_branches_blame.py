"""Who is blamed for a failing hook, and what that plugin hears from then on."""

from __future__ import annotations

from typing import Any

import pytest

from hookagent import PluginError, discovery, hookimpl
from hookagent.implementations import place_of
from tests.core.faults import DISTRIBUTION, implementing, installed_as
from tests.core.plugin_making import made
from tests.core.scripts import calls, make_agent

ANSWER = {"text": "done"}


@pytest.mark.parametrize("hook", ["on_session_start", "before_llm", "before_each_tool", "after_tools"])
@pytest.mark.parametrize("fault", ["raises", "returns something else"])
def test_the_distribution_of_an_installed_plugin_is_named(
    hook: str, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def act(given: dict[str, Any]) -> Any:
        if fault == "raises":
            raise ValueError("broken")
        return object()

    monkeypatch.setattr(discovery, "installed", installed_as(implementing(hook, act)))
    with pytest.raises(PluginError) as raised:
        make_agent([calls("ok"), ANSWER], "faulty").run_sync("go")
    said = "raised ValueError: broken (" if fault == "raises" else "returned a object"
    assert str(raised.value).startswith(f"plugin 'faulty' ({DISTRIBUTION}): hook '{hook}' {said}")
    assert (raised.value.plugin, raised.value.hook) == ("faulty", hook)


def test_hooks_that_fire_alone_get_the_agent_and_its_session() -> None:
    given: list[tuple[str, Any, Any]] = []

    def noting(name: str) -> Any:
        return lambda agent, session: given.append((name, agent, session))

    plugin = made("noting", on_session_start=noting("start"), on_session_end=noting("end"))
    agent = make_agent([ANSWER], plugin)
    session = agent.session
    agent.run_sync("go")
    agent.close_sync()
    assert [name for name, _, _ in given] == ["start", "end"]
    assert all(one is agent for _, one, _ in given)
    assert all(one.id == session.id for _, _, one in given)


def test_a_plugin_that_failed_is_told_no_more_errors_and_its_neighbour_is() -> None:
    told: list[str] = []

    class Failing:
        name = "failing"

        @hookimpl
        def before_llm(self, iteration: int) -> None:
            raise ValueError("broken")

        @hookimpl
        def on_error(self, error: BaseException) -> None:
            told.append(self.name)

        @hookimpl
        def on_event(self, event: Any) -> None:
            if event.type == "turn_end":
                told.append(f"{self.name} heard the end")

    neighbour = made("neighbour", on_error=lambda error: told.append("neighbour"))
    with pytest.raises(PluginError, match="plugin 'failing': hook 'before_llm' raised ValueError: broken"):
        make_agent([ANSWER], Failing(), neighbour).run_sync("go")
    assert told == ["neighbour"]


def test_what_has_no_code_is_at_an_unknown_place() -> None:
    class Callable:
        def __call__(self) -> None: ...

    assert place_of(Callable()) == "unknown place"
    code = test_what_has_no_code_is_at_an_unknown_place.__code__
    assert place_of(test_what_has_no_code_is_at_an_unknown_place) == f"{code.co_filename}:{code.co_firstlineno}"


def test_every_plugin_begins_and_ends_its_session_though_some_fail() -> None:
    log: list[str] = []

    def noting(name: str, fails: str = "") -> Any:
        def one(hook: str) -> Any:
            def note() -> None:
                log.append(f"{name} {hook}")
                if hook == fails:
                    raise ValueError(f"{name} fails")

            return note

        return made(name, on_session_start=one("start"), on_session_end=one("end"), on_complete=one("complete"))

    agent = make_agent([ANSWER], noting("a"), noting("b", "start"), noting("c", "start"), noting("d"))
    with pytest.raises(PluginError, match="plugin 'b': hook 'on_session_start' raised ValueError: b fails"):
        agent.run_sync("go")
    assert log == [f"{name} start" for name in "abcd"] + [f"{name} complete" for name in "abcd"]
    assert agent.last_result is not None
    assert [error.partition(" (")[0] for error in agent.last_result.errors] == [
        "plugin 'c': hook 'on_session_start' raised ValueError: c fails"
    ]
    log.clear()
    assert agent.run_sync("again").answer == "done"
    agent.close_sync()
    assert log == [f"{name} complete" for name in "abcd"] + [f"{name} end" for name in "abcd"]


def test_what_fails_at_the_end_of_a_session_is_listed_with_its_last_run() -> None:
    agent = make_agent(
        [ANSWER],
        made("a", on_session_end=lambda: 1 / 0),
        made("b", before_llm=lambda: None),
        made("c", on_session_end=lambda: "x"),
    )
    result = agent.run_sync("go")
    with pytest.raises(PluginError, match="plugin 'a': hook 'on_session_end' raised ZeroDivisionError"):
        agent.close_sync()
    last = agent.last_result
    assert last is not None
    assert result.errors == ()
    assert (last.answer, last.status) == ("done", "completed")
    assert [error[:33] for error in last.errors] == [
        "plugin 'a': hook 'on_session_end'",
        "plugin 'c': hook 'on_session_end'",
    ]


def test_a_session_without_a_run_ends_without_a_word() -> None:
    agent = make_agent([ANSWER], made("a", on_session_end=lambda: 1 / 0))
    agent.close_sync()
    assert agent.last_result is None
