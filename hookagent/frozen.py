"""Plain JSON values that nobody can change: what hooks see of a model's arguments.

`freeze` makes them, `thaw` gives plain `dict` and `list` back. They compare equal to their plain forms and
are accepted wherever a `dict` or a `list` is read (json, pydantic), but every changing method raises.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

JsonValue = Any
"""A JSON value: None, bool, int, float (finite), str, a list of such, or a dict from str to such."""


def _refuse(self: object, *_: object, **__: object) -> NoReturn:
    raise TypeError("frozen value: return a changed copy (hookagent.thaw makes one), do not change it in place")


class FrozenDict(dict[str, Any]):
    """A `dict` that cannot be changed."""

    __slots__ = ()
    __setitem__ = __delitem__ = clear = pop = popitem = setdefault = update = __ior__ = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return (freeze, (thaw(self),))

    def __copy__(self) -> FrozenDict:
        return self

    def __deepcopy__(self, memo: object) -> FrozenDict:
        return self

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset((key, _hashable(value)) for key, value in self.items()))


class FrozenList(list[Any]):
    """A `list` that cannot be changed."""

    __slots__ = ()
    __setitem__ = __delitem__ = append = extend = insert = pop = remove = clear = _refuse
    sort = reverse = __iadd__ = __imul__ = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return (freeze, (thaw(self),))

    def __copy__(self) -> FrozenList:
        return self

    def __deepcopy__(self, memo: object) -> FrozenList:
        return self

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(_hashable(value) for value in self))


def _hashable(value: JsonValue) -> Any:
    return (type(value) is bool, value)


def freeze(value: JsonValue) -> JsonValue:
    """Return `value` with every dict and list in it replaced by a frozen one; tuples become lists."""
    kind = type(value)
    if kind is str or kind is int or kind is bool or kind is float or value is None:
        return value
    if kind is FrozenDict or kind is FrozenList:
        return value
    if kind is dict or isinstance(value, Mapping):
        return FrozenDict({str(key): freeze(item) for key, item in value.items()})
    if isinstance(value, list | tuple):
        return FrozenList(freeze(item) for item in value)
    if isinstance(value, str | int | float):
        return value
    raise TypeError(f"not a JSON value: {type(value).__name__}")


def thaw(value: JsonValue) -> JsonValue:
    """Return a changeable deep copy of `value`, made of plain `dict` and `list`."""
    if isinstance(value, dict):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [thaw(item) for item in value]
    return value
