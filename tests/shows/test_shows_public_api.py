"""What is public: the names of `hookagent`, where they come from, that each is explained; and the hooks likewise."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from itertools import pairwise
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

import hookagent
from hookagent import hookspecs
from hookagent.contract import CONTRACTS
from hookagent.markers import NAME
from hookagent.validation import check_plugin

WINDOW = ast.parse(Path(inspect.getfile(hookagent)).read_text(encoding="utf-8"))
PARTS = ["Fires", "Returns", "Order", "Owns", "Since"]


def names_for_type_checkers() -> dict[str, str]:
    """What the TYPE_CHECKING block imports: public name to module, below `hookagent`."""
    (block,) = [node for node in WINDOW.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    found = {}
    for node in block.body:
        assert isinstance(node, ast.ImportFrom), ast.unparse(node)
        assert node.module is not None
        for alias in node.names:
            # Without the `as` of the same name, a type checker does not count it as public.
            assert alias.asname == alias.name, ast.unparse(node)
            assert alias.name not in found, alias.name
            found[alias.name] = node.module.removeprefix("hookagent.")
    return found


def names_when_asked() -> dict[str, str]:
    """What the table of lazy names holds: public name to module, below `hookagent`."""
    (table,) = [
        ast.literal_eval(node.value)
        for node in WINDOW.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_WHERE"
    ]
    pairs = [(name, module) for module, names in table.items() for name in names]
    assert len(pairs) == len(dict(pairs)), "a name is in the table twice"
    return dict(pairs)


def hooks_by_name() -> dict[str, FunctionType]:
    return {name: one for name, one in vars(hookspecs).items() if hasattr(one, f"{NAME}_spec")}


def text_beneath(value_name: str, module_name: str) -> str:
    """The text that stands beneath the assignment of a value which has no docstring of its own."""
    body = ast.parse(inspect.getsource(importlib.import_module(module_name))).body
    for node, following in pairwise(body):
        target = ast.unparse(node.targets[0]) if isinstance(node, ast.Assign) else ""
        if target == value_name and isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
            return str(following.value.value)
    return ""


def explanation(name: str, module_name: str) -> str:
    """What is said about a public name by us: not what Python makes up, nor what another library's type says."""
    value = getattr(hookagent, name)
    if isinstance(value, FunctionType):
        return inspect.getdoc(value) or ""
    if isinstance(value, type):
        text = vars(value).get("__doc__") or ""
        # What a dataclass or a named tuple without a docstring gets.
        return "" if text.startswith(f"{name}(") else text
    about = importlib.import_module(module_name).__doc__ or ""
    named = re.search(rf"\b{name}\b", about, re.IGNORECASE)
    return text_beneath(name, module_name) or (about if named else "")


def test_the_list_of_public_names_is_sorted_and_complete() -> None:
    assert hookagent.__all__ == sorted(hookagent.__all__)
    assert set(hookagent.__all__) == set(names_when_asked())
    assert set(hookagent.__all__) <= set(dir(hookagent))
    assert not [name for name in hookagent.__all__ if name.startswith("_")]


def test_type_checkers_and_programs_see_the_same_names() -> None:
    assert names_for_type_checkers() == names_when_asked()


def test_a_star_import_gives_every_name() -> None:
    space: dict[str, Any] = {}
    exec("from hookagent import *", space)
    assert set(hookagent.__all__) <= set(space)


@pytest.mark.parametrize(("name", "module"), names_when_asked().items(), ids=names_when_asked())
def test_each_name_is_the_one_of_its_module_and_explained(name: str, module: str) -> None:
    home = importlib.import_module(f"hookagent.{module}")
    value = getattr(hookagent, name)
    assert value is getattr(home, name)
    if isinstance(value, type | FunctionType):
        assert (value.__module__, value.__name__) == (home.__name__, name)
    assert len(explanation(name, home.__name__).split()) >= 3


def test_a_name_that_is_not_there_is_said_to_be() -> None:
    with pytest.raises(AttributeError, match="module 'hookagent' has no attribute 'agnet'"):
        getattr(hookagent, "agnet")  # noqa: B009 - the attribute is one that a type checker would refuse


def test_every_hook_has_a_contract_and_every_contract_a_hook() -> None:
    assert list(hooks_by_name()) == list(CONTRACTS)


@pytest.mark.parametrize("hook", CONTRACTS)
def test_a_hook_says_when_it_fires_what_it_returns_in_which_order_and_whose_it_is(hook: str) -> None:
    text = inspect.getdoc(hooks_by_name()[hook]) or ""
    summary, _, rest = text.partition("\n\n")
    parts = re.findall(rf"^({'|'.join(PARTS)}): +(\S.*)$", rest, re.MULTILINE)
    assert len(summary.split()) >= 3
    assert summary.endswith(".")
    assert [name for name, _ in parts] == PARTS
    assert re.fullmatch(r"\d+\.\d+", dict(parts)["Since"])


@pytest.mark.parametrize("hook", CONTRACTS)
def test_a_hook_says_which_form_it_takes_and_is_held_to_it(hook: str) -> None:
    spec, form = hooks_by_name()[hook], CONTRACTS[hook].form
    fires = (inspect.getdoc(spec) or "").partition("Fires:")[2].partition("Returns:")[0]
    words = {"plain": "plain `def` only", "async": "`async def` only"}
    assert {one for one, said in words.items() if said in " ".join(fires.split())} == {form} - {"either"}
    assert inspect.iscoroutinefunction(spec) == (form == "async")


@pytest.mark.parametrize("hook", CONTRACTS)
def test_a_plugin_may_name_every_argument_of_a_hook(hook: str) -> None:
    arguments = list(inspect.signature(hooks_by_name()[hook]).parameters)
    # The only hook that comes before there is an agent.
    assert arguments[-2:] == ["agent", "session"] or (hook, arguments) == ("register_tools", ["register"])
    keyword = "async def" if CONTRACTS[hook].form == "async" else "def"
    space: dict[str, Any] = {"hookimpl": hookagent.hookimpl}
    exec(f"class Plugin:\n    @hookimpl\n    {keyword} {hook}(self, {', '.join(arguments)}): ...", space)
    check_plugin("taker", None, space["Plugin"]())
