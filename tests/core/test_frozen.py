"""Frozen JSON values read like plain ones and refuse every change."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookagent.frozen import FrozenDict, FrozenList, freeze, thaw

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@given(json_values)
def test_freezing_keeps_the_value_and_thawing_gives_plain_ones_back(value: Any) -> None:
    frozen = freeze(value)
    assert frozen == value
    assert json.dumps(frozen) == json.dumps(value)
    thawed = thaw(frozen)
    assert thawed == value
    assert type(thawed) is type(value)
    assert pickle.loads(pickle.dumps(frozen)) == value
    assert copy.deepcopy(frozen) == value


DICT_CHANGES = {
    "setitem": lambda d: d.__setitem__("a", 2),
    "delitem": lambda d: d.__delitem__("a"),
    "update": lambda d: d.update(b=1),
    "pop": lambda d: d.pop("a"),
    "popitem": lambda d: d.popitem(),
    "clear": lambda d: d.clear(),
    "setdefault": lambda d: d.setdefault("b", 1),
    "ior": lambda d: d.__ior__({"b": 1}),
}
LIST_CHANGES = {
    "setitem": lambda x: x.__setitem__(0, 2),
    "delitem": lambda x: x.__delitem__(0),
    "append": lambda x: x.append(1),
    "extend": lambda x: x.extend([1]),
    "insert": lambda x: x.insert(0, 1),
    "pop": lambda x: x.pop(),
    "remove": lambda x: x.remove(1),
    "clear": lambda x: x.clear(),
    "sort": lambda x: x.sort(),
    "reverse": lambda x: x.reverse(),
    "iadd": lambda x: x.__iadd__([1]),
    "imul": lambda x: x.__imul__(2),
}


@pytest.mark.parametrize("change", DICT_CHANGES.values(), ids=DICT_CHANGES)
def test_a_frozen_dict_refuses(change: Any) -> None:
    value = freeze({"outer": {"a": 1}})
    with pytest.raises(TypeError, match="frozen value"):
        change(value["outer"])
    assert value == {"outer": {"a": 1}}


@pytest.mark.parametrize("change", LIST_CHANGES.values(), ids=LIST_CHANGES)
def test_a_frozen_list_refuses(change: Any) -> None:
    value = freeze([[1]])
    with pytest.raises(TypeError, match="frozen value"):
        change(value[0])
    assert value == [[1]]


def test_every_changing_method_of_dict_and_list_is_covered() -> None:
    """A new changing method in a later Python would be a hole; this names it."""
    reading_dict = {"copy", "fromkeys", "get", "items", "keys", "values"}
    reading_list = {"copy", "count", "index"}
    for frozen, plain, reading in ((FrozenDict, dict, reading_dict), (FrozenList, list, reading_list)):
        public = {name for name in dir(plain) if not name.startswith("_")} - reading
        assert all(getattr(frozen, name) is not getattr(plain, name) for name in public)


def test_what_is_not_json_is_refused() -> None:
    with pytest.raises(TypeError, match="not a JSON value: set"):
        freeze({"a": {1}})
