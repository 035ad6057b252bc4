"""What a tool's signature becomes for a model: names, types, defaults, descriptions; and what is refused."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any, Literal, Optional

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from hookagent import Agent, Tool, ToolContext, ToolDefinitionError
from hookagent.testing import Call, Reply, StrictServer
from tests.cases.wires import WIRES, agent_on, assert_accepted, offered_tools, result_texts
from tests.core.scripts import make_agent


@pytest.fixture(params=WIRES)
def wire(request: pytest.FixtureRequest) -> str:
    """One wire form after the other."""
    name: str = request.param
    return name


def called(tool: Any, arguments: dict[str, Any], name: str = "") -> Any:
    """The result of one call by a scripted model."""
    name = name or Tool.from_callable(tool).name
    agent = make_agent([{"calls": [{"name": name, "arguments": arguments}]}, "end"], tools=[tool])
    assert agent.run_sync("go").answer == "end"
    return next(one for one in agent.transcript.messages() if hasattr(one, "call_id"))


class Wallet(BaseModel):
    """A wallet of this module, whose annotations are all postponed."""

    id: int


def pay(w: Wallet, mode: Optional[Literal["a", "b"]] = None) -> str:  # noqa: UP045 - as the case has it
    """Pay."""
    return f"{type(w).__name__} {w.id} {mode}"


def pay_new(w: Wallet, mode: Literal["a", "b"] | None = None) -> str:
    """Pay, written in the newer way."""
    return pay(w, mode)


@pytest.mark.parametrize("function", [pay, pay_new])
def test_arg_11_postponed_annotations_are_resolved_where_they_stand(function: Any) -> None:
    parameters = Tool.from_callable(function).parameters
    assert list(parameters["required"]) == ["w"]
    wallet, mode = parameters["properties"]["w"], parameters["properties"]["mode"]
    assert wallet["properties"] == {"id": {"type": "integer"}}
    assert '"enum": ["a", "b"]' in json.dumps(mode)
    assert '"null"' in json.dumps(mode)
    assert called(function, {"w": {"id": 1}}).content == "Wallet 1 None"
    assert called(function, {"w": {"id": 1}, "mode": "a"}).content == "Wallet 1 a"


def timed(function: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator that keeps what it wraps."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return f"timed {function(*args, **kwargs)}"

    return wrapper


def hidden(function: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator that hides what it wraps."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


def add(a: int, b: int = 2) -> int:
    """Add."""
    return a + b


@pytest.mark.parametrize("depth", [1, 3])
def test_arg_12_the_wrapped_function_is_described_and_the_wrapper_called(depth: int) -> None:
    outer = add
    for _ in range(depth):
        outer = timed(outer)
    tool = Tool.from_callable(outer)
    assert (tool.name, tool.description) == ("add", "Add.")
    assert tool.parameters["properties"] == {"a": {"type": "integer"}, "b": {"type": "integer", "default": 2}}
    assert list(tool.parameters["required"]) == ["a"]
    assert called(outer, {"a": 1}, "add").content == "timed " * depth + "3"


def test_arg_12_a_wrapper_that_hides_its_function_is_refused() -> None:
    with pytest.raises(ToolDefinitionError, match=r"args.*functools\.wraps"):
        Agent(tools=[hidden(add)])


DOCSTRINGS = {
    "google": """Search.

        Args:
            q: the words
            mode (str): One of:
                - 'fast': quick
                - 'deep': slow
    """,
    "numpy": """Search.

        Parameters
        ----------
        q
            the words
        mode : str
            One of:
            - 'fast': quick
            - 'deep': slow
    """,
    "sphinx": """Search.

        :param q: the words
        :param mode: One of:
            - 'fast': quick
            - 'deep': slow
    """,
}


@pytest.mark.parametrize("style", DOCSTRINGS)
def test_arg_14_a_description_is_taken_whole(style: str) -> None:
    def search(q: str, mode: str = "fast") -> str:
        return q + mode

    search.__doc__ = DOCSTRINGS[style]
    tool = Tool.from_callable(search)
    properties = tool.parameters["properties"]
    assert tool.description == "Search."
    assert properties["q"]["description"] == "the words"
    for word in ("One of", "'fast': quick", "'deep': slow"):
        assert word in properties["mode"]["description"]


def optional(a: int, b: int = 5, c: Optional[str] = None) -> str:  # noqa: UP045 - as the case has it
    """Show what came."""
    return f"{a} {b} {c}"


def test_arg_16_what_has_a_default_can_be_left_out_on_every_wire(wire: str) -> None:
    calls = [Call("optional", {"a": 1}), Call("optional", {"a": 1, "c": None}), Call("optional", {"a": 1, "b": None})]
    with StrictServer([Reply(calls=calls), Reply(text="end")]) as server:
        agent_on(wire, server, tools=[optional]).run_sync("go")
        assert_accepted(server)
        (tool,) = server.requests[0].body["tools"]
        texts = list(result_texts(server.requests[1]).values())
    tool = tool.get("function", tool)
    schema = tool.get("parameters", tool.get("input_schema"))
    # No form that would ask for all of them: what is optional stays so, and only null where the type has it.
    assert not tool.get("strict")
    assert schema["required"] == ["a"]
    assert schema["additionalProperties"] is False
    assert texts[:2] == ["1 5 None", "1 5 None"]
    assert "'b' should be a valid integer; got null" in texts[2]
    assert "b (integer, default 5)" in texts[2]


LIKELY_NAMES = [
    "agent", "context", "ctx", "tool", "session", "state", "name", "description", "config", "run", "model", "call_id",
    "tool_call", "arguments", "request", "result", "args", "kwargs", "this", "cls_", "model_config", "schema", "values",
]  # fmt: skip


@pytest.mark.parametrize("name", LIKELY_NAMES)
def test_arg_18_no_parameter_is_filled_in_by_its_name(name: str) -> None:
    namespace: dict[str, Any] = {"ToolContext": ToolContext}
    source = f"def route({name}: str, xray: ToolContext) -> str:\n    return {name} + ' ' + xray.call_id"
    exec(source, namespace)
    tool = Tool.from_callable(namespace["route"])
    assert list(tool.parameters["properties"]) == [name]
    assert called(tool, {name: "c.0"}).content == "c.0 call_1_1"


def route(agent: Literal["a", "b"], context: str, session: int, name: str) -> str:
    """Show what came."""
    return repr((agent, context, session, name))


def test_arg_19_likely_names_keep_their_types_and_values(wire: str) -> None:
    arguments = {"agent": "b", "context": "x", "session": 3, "name": "n"}
    with StrictServer([Reply(calls=[Call("route", arguments)]), Reply(text="end")]) as server:
        agent_on(wire, server, tools=[route]).run_sync("go")
        assert_accepted(server)
        assert list(result_texts(server.requests[1]).values()) == ["('b', 'x', 3, 'n')"]
    properties = Tool.from_callable(route).parameters["properties"]
    assert list(properties["agent"]["enum"]) == ["a", "b"]
    types = [properties[one]["type"] for one in ("agent", "context", "session", "name")]
    assert types == ["string", "string", "integer", "string"]


@settings(max_examples=80, deadline=None)
@given(name=st.one_of(st.text(max_size=70), st.sampled_from(["...", "tool.name", "", "a b", "x" * 65, "ünï", "a\n"])))
def test_arg_20_a_name_that_would_have_to_be_cleaned_is_refused(name: str) -> None:
    fits = 0 < len(name) <= 64 and all(one.isascii() and (one.isalnum() or one in "_-") for one in name)
    if fits:
        assert Tool.from_callable(add, name=name).name == name
        return
    with pytest.raises(ToolDefinitionError, match=r"name|add"):
        Tool.from_callable(add, name=name)


@pytest.mark.parametrize("name", ["tool_name", "x" * 64])
def test_arg_20_two_tools_of_one_name_are_refused_with_both_owners(name: str) -> None:
    tools = [Tool.from_callable(one, name=name) for one in (add, route)]
    with pytest.raises(ToolDefinitionError, match=r"is given twice: by .*add .* and by .*route "):
        Agent(tools=tools)


LONG = ["a" * 70 + "_one", "a" * 70 + "_two"]


@pytest.mark.parametrize("name", LONG)
def test_arg_22_a_name_is_never_cut(name: str) -> None:
    with pytest.raises(ToolDefinitionError, match="64"):
        Tool.from_callable(add, name=name)
    namespace: dict[str, Any] = {}
    exec(f"def {name}() -> str:\n    return ''", namespace)
    with pytest.raises(ToolDefinitionError, match="64"):
        Agent(tools=[namespace[name]])


def test_arg_22_the_longest_names_reach_their_own_tool(wire: str) -> None:
    names = ["a" * 60 + "_one", "a" * 60 + "_two"]
    tools = [Tool.from_callable(functools.partial(lambda n: n, n), name=n) for n in names]
    with StrictServer([Reply(calls=[Call(n) for n in names]), Reply(text="end")]) as server:
        agent_on(wire, server, tools=tools).run_sync("go")
        assert_accepted(server)
        assert offered_tools(server.requests[0]) == names
        assert list(result_texts(server.requests[1]).values()) == names
