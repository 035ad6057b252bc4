import functools
from typing import Any

import pytest

from hookagent.errors import ToolDefinitionError
from hookagent.tools.registry import ToolRegistry
from hookagent.tools.tool import Tool


def read_file(path: str) -> str:
    """Read."""
    return path


def write(path: str) -> str:
    """Write."""
    return path


class Box:
    def look(self, what: str) -> str:
        return what

    def take(self) -> str:
        return ""


def test_tools_keep_their_order_and_their_tuple() -> None:
    registry = ToolRegistry([write, read_file])
    assert registry.names == ("write", "read_file")
    assert [each.name for each in registry] == ["write", "read_file"]
    assert registry.tools is registry.tools
    before = registry.tools
    registry.add(Box().look, owner="boxes")
    assert registry.tools is not before
    assert registry.owner("look") == "boxes"
    assert registry.owner("write") is None
    assert registry.remove("write").name == "write"
    assert registry.names == ("read_file", "look")
    assert "write" not in registry
    assert len(registry) == 2


def test_two_tools_of_one_name_are_refused_naming_both() -> None:
    other = Tool.from_callable(write, name="read_file")
    with pytest.raises(ToolDefinitionError) as caught:
        ToolRegistry([read_file, other])
    text = str(caught.value)
    assert "'read_file' is given twice" in text
    assert f"{__name__.rpartition('.')[2]}.read_file (" in text
    assert f"{__name__.rpartition('.')[2]}.write (" in text


def test_a_clash_names_the_plugin() -> None:
    registry = ToolRegistry([read_file])
    with pytest.raises(ToolDefinitionError, match="plugin 'extra'"):
        registry.add(Tool.from_callable(read_file), owner="extra")


@pytest.mark.parametrize("asked", ["reed_file", "Read-File", "READ_FILE", "readFile"])
def test_an_unknown_name_is_answered_with_the_nearest_and_all_names(asked: str) -> None:
    text = ToolRegistry([read_file, write]).unknown_tool_text(asked)
    assert f"unknown tool '{asked}', nothing was run" in text
    assert "did you mean 'read_file'?" in text
    assert text.endswith("the tools are: read_file, write")


def test_a_name_near_to_none_gets_no_suggestion() -> None:
    text = ToolRegistry([read_file, write]).unknown_tool_text("zzzzz")
    assert "did you mean" not in text
    assert "read_file, write" in text


def test_without_tools_the_text_says_so() -> None:
    assert "there are no tools" in ToolRegistry().unknown_tool_text("x" * 5_000)
    assert len(ToolRegistry().unknown_tool_text("x" * 5_000)) < 300


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["read_file"], "give the function itself"),
        ([Box()], "instance.look, instance.take"),
        ([Box], "a class was given"),
        ([Box.look], "a method without its instance"),
        ([3], "cannot be called"),
        ([None], "cannot be called"),
        ("read_file", "a list of tools is wanted"),
        (read_file, "a list of tools is wanted"),
        ([[read_file]], "cannot be called"),
    ],
)
def test_what_is_no_tool_is_refused_with_advice(given: Any, says: str) -> None:
    with pytest.raises(ToolDefinitionError, match="tool") as caught:
        ToolRegistry(given)
    assert says in str(caught.value)


@pytest.mark.parametrize("kind", [tuple, list, iter])
def test_any_iterable_of_tools_will_do(kind: Any) -> None:
    assert ToolRegistry(kind([read_file, functools.partial(write, "x")])).names == ("read_file", "write")


def test_names_that_differ_after_their_64th_character_are_refused_not_cut() -> None:
    for end in ("one", "two"):
        with pytest.raises(ToolDefinitionError, match=r"has 74 characters, more than the 64"):
            Tool.from_callable(write, name="a" * 70 + "_" + end)
