"""What makes an object a plugin: what is wrong with one is said, and the mistake guessed."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from hookagent import Agent, PluginLoadError, hookimpl
from hookagent.contract import RENAMED
from tests.core.plugin_making import hook, plugin_with


def _generator() -> Any:
    """A new function each time: the marker writes on it."""

    def generator(self: Any) -> Any:
        yield

    return generator


async def _async_generator(self: Any) -> Any:
    yield


def _async() -> Any:
    async def coroutine(self: Any) -> None:
        return None

    return coroutine


BAD_PLUGINS: dict[str, tuple[Any, str]] = {
    "no hook": (plugin_with(), "implements no hook; mark its functions with @hookimpl"),
    "unmarked": (plugin_with(before_llm=lambda self: None), "'before_llm' is the name of a hook, but it is not marked"),
    "unknown": (plugin_with(before_lm=hook(lambda self: None)), "unknown hook 'before_lm'; did you mean 'before_llm'?"),
    "nonsense": (plugin_with(zzz=hook(lambda self: None)), "unknown hook 'zzz'; the hooks are: register_tools, "),
    "argument": (
        plugin_with(after_each_tool=hook(lambda self, tool_cal: None)),
        "hook 'after_each_tool' has no argument 'tool_cal'; did you mean 'tool_call'? (it offers: tool_call, result, ",
    ),
    "default": (
        plugin_with(before_llm=hook(lambda self, iteration=1: None)),
        "hook 'before_llm': argument 'iteration' has a default, so it would never be passed",
    ),
    "stars": (plugin_with(before_llm=hook(lambda self, *rest: None)), "takes '*rest'; name the arguments it wants: "),
    "keywords": (plugin_with(before_llm=hook(lambda self, **rest: None)), "takes '*rest'; name the arguments"),
    "keyword-only": (plugin_with(before_llm=hook(lambda self, *, agent: None)), "argument 'agent' is keyword-only"),
    "wrapper": (
        plugin_with(before_each_tool=hook(_generator(), wrapper=True)),
        "hook 'before_each_tool' is a pluggy wrapper, which cannot await and can hide a neighbour's failure; "
        "implement 'wrap_tool_call' instead",
    ),
    "hookwrapper": (
        plugin_with(before_llm=hook(_generator(), hookwrapper=True)),
        "is a pluggy wrapper, which cannot await and can hide a neighbour's failure; implement 'wrap_model_call'",
    ),
    "generator": (plugin_with(before_llm=hook(_generator())), "hook 'before_llm' is a generator; write it as a plain"),
    "async generator": (plugin_with(before_llm=hook(_async_generator)), "hook 'before_llm' is a generator"),
    "async on_event": (
        plugin_with(on_event=hook(_async())),
        "'on_event' is 'async def', but it takes plain 'def' only",
    ),
    "async register": (
        plugin_with(register_tools=hook(_async())),
        "'register_tools' is 'async def', but it takes plain",
    ),
    "plain wrap": (
        plugin_with(wrap_model_call=hook(lambda self: None)),
        "hook 'wrap_model_call' is plain 'def', but it takes 'async def' only",
    ),
    "not a function": (
        plugin_with(before_llm=hook(functools.partial(print))),
        "'before_llm' is marked with @hookimpl, but it is a partial; write a function",
    ),
    "bad time limit": (plugin_with(before_llm=hook(lambda self: None), time_limit=0), "its time limit is 0; expected"),
}


@pytest.mark.parametrize("case", BAD_PLUGINS)
def test_what_is_wrong_with_a_plugin_is_guessed(case: str) -> None:
    plugin, reason = BAD_PLUGINS[case]
    with pytest.raises(PluginLoadError) as raised:
        Agent(plugins=[plugin])
    assert str(raised.value).startswith("plugin 'tested': ")
    assert reason in str(raised.value)


@pytest.mark.parametrize("other", RENAMED)
def test_the_names_that_other_projects_use_are_known(other: str) -> None:
    plugin = plugin_with(**{other: hook(lambda self: None)})
    with pytest.raises(PluginLoadError, match=f"unknown hook '{other}'; here it is called '{RENAMED[other]}'"):
        Agent(plugins=[plugin])


def test_a_class_for_an_instance_and_a_function_without_the_marker_are_guessed() -> None:
    class Plugin:
        @hookimpl
        def before_llm(self) -> None:
            return None

    with pytest.raises(PluginLoadError, match=r"plugin 'Plugin': a class was given .*\(forgotten the \(\)\?\)"):
        Agent(plugins=[Plugin])
    with pytest.raises(PluginLoadError, match="plugin '<lambda>': a plain function is no plugin; mark it"):
        Agent(plugins=[lambda: None])


def test_an_attribute_that_cannot_be_read_is_said_and_a_property_is_not_read_at_all() -> None:
    class Trap:
        def __get__(self, instance: Any, owner: Any) -> Any:
            raise RuntimeError("sprung")

    trapped = plugin_with(before_llm=hook(lambda self: None), trap=Trap())
    with pytest.raises(PluginLoadError, match="plugin 'tested': its attribute 'trap' cannot be read: RuntimeError"):
        Agent(plugins=[trapped])

    reads: list[str] = []

    def read(self: Any) -> Any:
        reads.append("read")
        raise RuntimeError("read")

    quiet = plugin_with(before_llm=hook(lambda self: None), a=property(read), b=functools.cached_property(read))
    quiet.__class__.b.__set_name__(quiet.__class__, "b")
    assert [one.name for one in Agent(plugins=[quiet]).plugins] == ["tested"]
    assert reads == []


def test_an_optional_hook_that_is_not_there_yet_is_accepted() -> None:
    plugin = plugin_with(
        hook_of_tomorrow=hook(lambda self: None, optionalhook=True), before_llm=hook(lambda self: None)
    )
    assert len(Agent(plugins=[plugin]).plugins) == 1
