"""What exactly is in a request, what is said when plugins make it shorter, and who is named when it cannot be sent."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hookagent import PluginError, discovery, hookimpl
from hookagent.errors import ProviderError, RequestRefusedError
from hookagent.events import Compaction, RequestSent
from hookagent.providers.scripted import ScriptedProvider
from hookagent.requests import BlockView
from tests.core.faults import DISTRIBUTION, implementing, installed_as
from tests.core.plugin_making import Around, made
from tests.core.scripts import calls, make_agent, words

ANSWER = {"text": "done"}


def asked_of(agent: Any, *answers: Any, window: int | None = None) -> list[Any]:
    """The requests that the agent's model gets from now on; it gives these answers, the last one for ever."""
    asked: list[Any] = []

    def model(request: Any) -> Any:
        asked.append(request)
        answer = answers[min(len(asked), len(answers)) - 1]
        if isinstance(answer, BaseException):
            raise answer
        return answer

    agent.model = ScriptedProvider(model, context_window=window)
    return asked


# ---- what is in it ----


def test_a_request_that_nobody_shaped_holds_everything_and_no_more() -> None:
    agent = make_agent([], system_prompt="Be brief.", model_settings={"temperature": 0.5})
    asked = asked_of(agent, calls("ok"), ANSWER, window=5000)
    agent.run_sync(["first", "newest"])
    first, second = asked
    assert [len(one.blocks) for one in asked] == [2, 3]
    assert all(type(one.blocks) is BlockView and not one.blocks.start for one in asked)
    assert (second.system, second.summary, second.tool_choice, second.notes) == ("Be brief.", None, "auto", ())
    assert second.tools == agent.tools.tools
    assert dict(second.settings) == {"temperature": 0.5}
    assert (second.protected, second.session_id, second.shaped_by) == ((0, 1), agent.session.id, None)
    assert agent.session.context_window == 5000
    assert replace(first, blocks=second.blocks) == second


def test_the_window_is_that_of_the_model_that_is_asked() -> None:
    agent = make_agent([])
    for window in (5000, 7000, None):
        asked_of(agent, ANSWER, window=window)
        agent.run_sync("go")
        assert agent.session.context_window == window


def test_tools_are_switched_off_in_the_closing_answer_alone() -> None:
    agent = make_agent([], limits={"max_iterations": 2, "closing_answer": True})
    asked = asked_of(agent, calls("ok", ids=["a"]), calls("ok", ids=["b"]), {"text": "so far"})
    assert agent.run_sync("go").answer == "so far"
    assert [one.tool_choice for one in asked] == ["auto", "auto", "none"]
    assert asked[2].settings == {}


def test_settings_that_are_no_json_are_left_to_the_model() -> None:
    value = object()
    agent = make_agent([], model_settings={"scripted": {"own": value}})
    asked = asked_of(agent, ANSWER)
    assert agent.run_sync("go").answer == "done"
    assert dict(asked[0].settings) == {"scripted": {"own": value}}


# ---- who shapes it ----


def test_each_plugin_shapes_what_those_before_it_made_and_the_last_one_is_named() -> None:
    seen: list[tuple[str, str, str | None]] = []

    class Silent:
        name = "silent"

        @hookimpl
        async def shape_request(self, request: Any) -> None:
            seen.append((self.name, request.system, request.shaped_by))

    def adding(name: str, word: str | None) -> Any:
        def shape_request(request: Any) -> Any:
            seen.append((name, request.system, request.shaped_by))
            return request if word is None else replace(request, system=f"{request.system} {word}")

        return made(name, shape_request=shape_request)

    plugins = [Silent(), adding("same", None), adding("second", "two"), adding("third", "three"), adding("last", None)]
    agent = make_agent([], *plugins, system_prompt="one")
    asked = asked_of(agent, ANSWER)
    agent.run_sync("go")
    assert seen == [
        ("silent", "one", None),
        ("same", "one", None),
        ("second", "one", None),
        ("third", "one two", "second"),
        ("last", "one two three", "third"),
    ]
    assert (asked[0].system, asked[0].shaped_by) == ("one two three", "third")
    assert [one.shaped_by for one in agent.session.trace if isinstance(one, RequestSent)] == ["third"]


def test_a_request_that_is_given_back_as_it_came_is_shaped_by_nobody() -> None:
    agent = make_agent([], made("same", shape_request=lambda request: request))
    asked = asked_of(agent, ANSWER)
    agent.run_sync("go")
    assert asked[0].shaped_by is None


# ---- what is said of it ----


def test_each_shape_that_a_plugin_gives_a_request_is_said_once() -> None:
    shapes: list[Any] = [
        lambda request: request.with_note("nothing shorter"),
        lambda request: request.dropping_before(1),
        lambda request: request.dropping_before(1).with_note("the same"),
        lambda request: request.dropping_before(2).with_summary("in short"),
        lambda request: request.dropping_before(2).with_summary("in short"),
        lambda request: request.dropping_before(2).with_summary("in other words"),
    ]
    turns = iter(shapes)
    agent = make_agent(["done"] * len(shapes), made("first", shape_request=lambda request: next(turns)(request)))
    for number, _ in enumerate(shapes):
        agent.run_sync(str(number))
    assert [tuple(one)[2:] for one in agent.session.trace if isinstance(one, Compaction)] == [
        (2, 1, "first", 3, 3, False, 1, None),
        (4, 1, "first", 7, 6, True, 2, "in short"),
        (6, 1, "first", 11, 10, True, 2, "in other words"),
    ]


def test_of_two_plugins_each_is_told_of_for_what_it_left_out_itself() -> None:
    drops = made("drops", shape_request=lambda request: request.dropping_before(2))
    notes = made("notes", shape_request=lambda request: request.with_note("on top"))
    drops_more = made("drops more", shape_request=lambda request: request.dropping_before(3))
    agent = make_agent([calls("ok"), ANSWER], drops, notes, drops_more)
    agent.run_sync(["one", "two", "three", "four"])
    assert [tuple(one)[4:] for one in agent.session.trace if isinstance(one, Compaction)] == [
        ("drops", 4, 3, False, 2, None),
        ("drops more", 3, 2, False, 3, None),
    ]


# ---- whether it is worth sending once more ----


def result_shortened(request: Any) -> Any:
    index = next(index for index, block in enumerate(request.blocks.transcript) if hasattr(block, "calls"))
    return request.with_result_text(index, "c1", "cut")


@pytest.mark.parametrize(
    ("change", "again"),
    [
        (lambda request: request.dropping_before(len(request.blocks) - 1), True),
        (result_shortened, True),
        (lambda request: request.with_tools(request.tools[:1]), True),
        (lambda request: None, False),
        (lambda request: request.with_note("please"), False),
    ],
    ids=["fewer blocks", "a shorter result", "fewer tools", "unchanged", "longer"],
)
def test_a_request_that_was_too_long_is_sent_again_only_where_something_is_left_out(change: Any, again: bool) -> None:
    told: list[Any] = []
    hears = made("hears", on_error=lambda error: told.append(error))
    shapes = made("shapes", shape_request=lambda request: change(request) if told else None)
    agent = make_agent([], hears, shapes)
    too_long = ProviderError("too_long", "scripted", "too much")
    asked = asked_of(agent, calls("ok"), {"text": "one"}, too_long, {"text": "two"})
    agent.run_sync("first")
    result = agent.run_sync("second")
    assert (result.status, len(asked)) == (("completed", 4) if again else ("failed", 3))
    assert told == [too_long]


# ---- who is named when it cannot be sent ----


@pytest.mark.parametrize("hook", ["shape_request", "wrap_model_call"])
def test_who_spoils_a_request_is_named_with_hook_and_distribution(hook: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def spoil_around(given: dict[str, Any]) -> Any:
        return await given["call_next"](replace(given["request"], system=""))

    def spoil(given: dict[str, Any]) -> Any:
        return replace(given["request"], system="")

    act = spoil if hook == "shape_request" else spoil_around
    monkeypatch.setattr(discovery, "installed", installed_as(implementing(hook, act)))

    async def passes(request: Any, call_next: Any) -> Any:
        return await call_next(request)

    quiet = [made("quiet", shape_request=lambda request: None), Around("around", model=passes)]
    agent = make_agent([], *quiet, "faulty", system_prompt="Be brief.")
    asked = asked_of(agent, ANSWER)
    with pytest.raises(PluginError) as raised:
        agent.run_sync("go")
    error = raised.value
    assert (error.plugin, error.distribution, error.hook) == ("faulty", DISTRIBUTION, hook)
    assert str(error) == (
        f"plugin 'faulty' ({DISTRIBUTION}): hook '{hook}' made a request that cannot be sent: "
        "the system text was dropped, which cannot be (rule 'protected')"
    )
    assert isinstance(error.__cause__, RequestRefusedError)
    assert (asked, words(agent.transcript)) == ([], ["U go"])


def test_what_the_last_check_refuses_is_the_fault_of_who_shaped_it_last() -> None:
    async def passes(request: Any, call_next: Any) -> Any:
        return await call_next(request)

    shapes = made("shapes", shape_request=lambda request: replace(request, summary=5))
    agent = make_agent([ANSWER], shapes, Around("around", model=passes))
    with pytest.raises(PluginError, match="the summary is a int, not text") as raised:
        agent.run_sync("go")
    assert (raised.value.plugin, raised.value.hook) == ("shapes", "shape_request")


def test_who_spoiled_a_request_is_not_told_of_it_and_its_neighbours_are() -> None:
    told: list[str] = []

    def hearing(name: str, **hooks: Any) -> Any:
        return made(name, on_error=lambda error: told.append(f"{name}: {error.plugin}"), **hooks)

    spoils = hearing("spoils", shape_request=lambda request: replace(request, system=""))
    agent = make_agent([ANSWER], spoils, hearing("neighbour"), system_prompt="Be brief.")
    with pytest.raises(PluginError):
        agent.run_sync("go")
    assert told == ["neighbour: spoils"]


def test_a_refusal_in_the_name_of_a_plugin_that_is_not_there_names_it_all_the_same() -> None:
    agent = make_agent([])
    asked_of(agent, RequestRefusedError("notes", "a note is no text", "elsewhere"))
    with pytest.raises(PluginError) as raised:
        agent.run_sync("go")
    assert (raised.value.plugin, raised.value.distribution, raised.value.hook) == ("elsewhere", None, "wrap_model_call")
