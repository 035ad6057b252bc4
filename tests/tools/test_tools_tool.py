import functools
import gc
import subprocess
import sys
import weakref
from typing import Any

import pytest

from hookagent.errors import ToolDefinitionError
from hookagent.tools import definition
from hookagent.tools.signature import Signature, read_signature
from hookagent.tools.tool import Tool, tool


@tool
def marked_bare(path: str) -> str:
    """Do it."""
    return path


@tool(effect="reads", name="look-up", description="Looks.", alone=True, time_limit=2.5)
def marked(path: str) -> str:
    """Do it."""
    return path


class Holder:
    @tool(effect="writes")
    def method(self, a: int) -> int:
        """Hold."""
        return a

    @staticmethod
    @tool(effect="sends")
    def outside(a: int) -> int:
        return a

    @tool(effect="sends")
    @classmethod
    def inside(cls, a: int) -> int:
        return a


class WebSearch:
    """Search the web."""

    def __call__(self, query: str) -> str:
        return query


def test_a_mark_changes_nothing_but_what_the_tool_says() -> None:
    assert marked("x") == "x"
    assert marked.__name__ == "marked"
    made = Tool.from_callable(marked)
    assert (made.name, made.description, made.effect) == ("look-up", "Looks.", "reads")
    assert (made.alone, made.time_limit) == (True, 2.5)


def test_a_tool_that_says_nothing_counts_as_running_code() -> None:
    made = Tool.from_callable(marked_bare)
    assert (made.name, made.description, made.effect) == ("marked_bare", "Do it.", "runs_code")
    assert (made.alone, made.time_limit) == (False, None)


@pytest.mark.parametrize(
    ("function", "effect"),
    [
        (Holder().method, "writes"),
        (Holder.outside, "sends"),
        (Holder.inside, "sends"),
        (functools.partial(marked, "x"), "reads"),
        (functools.partial(Holder().method), "writes"),
        (functools.wraps(marked)(lambda *args: marked(*args)), "reads"),
    ],
)
def test_marks_are_found_on_methods_partials_and_wrappers(function: Any, effect: str) -> None:
    assert Tool.from_callable(function).effect == effect


def test_a_callable_object_is_named_and_described_by_its_class() -> None:
    made = Tool.from_callable(WebSearch())
    assert (made.name, made.description) == ("web_search", "Search the web.")


def test_what_is_given_to_from_callable_wins() -> None:
    made = Tool.from_callable(marked, name="other", description="", effect="sends", alone=False, time_limit=1)
    assert (made.name, made.description, made.effect) == ("other", "", "sends")
    assert (made.alone, made.time_limit) == (False, 1)
    assert Tool.from_callable(made) is made
    assert Tool.from_callable(made, name="third").effect == "sends"
    assert Tool.from_callable(marked).name == "look-up"


def test_a_tool_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Tool.from_callable(marked).name = "other"  # type: ignore[misc]


def test_making_a_tool_leaves_the_function_alone() -> None:
    def plain(a: int) -> int:
        return a

    before = dict(vars(plain))
    _ = Tool.from_callable(plain).parameters
    assert vars(plain) == before


def test_what_is_known_of_a_function_is_shared_and_goes_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def plain(a: int) -> int:
        return a

    reads: list[Any] = []

    def read(function: Any) -> Signature:
        reads.append(function.__name__)
        return read_signature(function)

    monkeypatch.setattr(definition, "read_signature", read)
    first, second = Tool.from_callable(plain), Tool.from_callable(plain)
    assert reads == ["plain"]
    assert first.parameters is second.parameters
    gone = weakref.ref(plain)
    del plain, first, second
    gc.collect()
    assert gone() is None


def test_bound_methods_of_several_instances_share_but_call_their_own() -> None:
    one, two = Holder(), Holder()
    first, second = Tool.from_callable(one.method), Tool.from_callable(two.method)
    assert first.parameters is second.parameters
    assert first.function != second.function


def test_a_function_that_is_renamed_or_marked_later_is_read_again() -> None:
    def plain(a: int) -> int:
        return a

    assert Tool.from_callable(plain).name == "plain"
    plain.__name__ = "renamed"
    plain.__doc__ = "Now described."
    assert Tool.from_callable(plain).name == "renamed"
    assert Tool.from_callable(plain).description == "Now described."
    tool(effect="reads")(plain)
    assert Tool.from_callable(plain).effect == "reads"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("...", "name '...' is not one that providers take"),
        ("tool.name", "name 'tool.name' is not one"),
        ("", "name '' is not one"),
        ("a b", "name 'a b' is not one"),
        ("naïve", "name 'naïve' is not one"),
        ("a" * 65, "has 65 characters, more than the 64"),
        ("a\n", "is not one"),
    ],
)
def test_names_that_providers_refuse_are_refused_when_the_tool_is_made(name: str, says: str) -> None:
    with pytest.raises(ToolDefinitionError) as caught:
        Tool.from_callable(marked_bare, name=name)
    assert says in str(caught.value)
    assert "@tool(name=...)" in str(caught.value)
    with pytest.raises(ToolDefinitionError):
        tool(name=name)(lambda a: a)


@pytest.mark.parametrize("name", ["a", "a" * 64, "tool_name", "Tool-2"])
def test_names_that_providers_take_are_taken(name: str) -> None:
    assert Tool.from_callable(marked_bare, name=name).name == name


def test_a_lambda_needs_a_name() -> None:
    with pytest.raises(ToolDefinitionError, match="a lambda has no name"):
        Tool.from_callable(lambda a: a)
    assert Tool.from_callable(lambda a: a, name="identity").name == "identity"


@pytest.mark.parametrize(
    ("marks", "says"),
    [
        ({"effect": "harmless"}, "unknown effect 'harmless'. use one of reads, runs_code, sends, writes"),
        ({"time_limit": 0}, "time limit 0 is not above zero"),
        ({"time_limit": -1.0}, "time limit -1.0"),
    ],
)
def test_bad_marks_are_refused_at_once(marks: dict[str, Any], says: str) -> None:
    with pytest.raises(ToolDefinitionError) as caught:
        tool(**marks)(lambda a: a)
    assert says in str(caught.value)


def test_a_class_cannot_be_marked() -> None:
    with pytest.raises(ToolDefinitionError, match="@tool stands on a class"):
        tool(effect="reads")(WebSearch)


def test_an_object_without_room_for_a_mark_is_refused_with_advice() -> None:
    with pytest.raises(ToolDefinitionError, match=r"Tool\.from_callable"):
        tool(effect="reads")(len)


def test_making_tools_brings_in_neither_pydantic_nor_the_docstring_parser() -> None:
    code = (
        "import sys\nfrom hookagent.tools.registry import ToolRegistry\nimport hookagent.tools.execute\n"
        "def f(a: int, b: list[str] | None = None) -> str: 'Do.'\n"
        "r = ToolRegistry([f])\n"
        "loaded = {'pydantic', 'docstring_parser', 'yaml', 'concurrent.futures.thread'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
        "r.tools[0].parameters\nassert 'pydantic' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
