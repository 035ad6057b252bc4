"""What a value holds, by its shape: the pairs of an object, the items of a list, or nothing.

Models and records of other libraries are known by their marks; none is imported for this.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, Sequence, Set, ValuesView
from dataclasses import fields, is_dataclass
from types import GeneratorType
from typing import Any

_SORTED_SETS = 10_000


class Pairs:
    """The pairs of an object, made when they are needed."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[], Iterable[Any]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[Any]:
        return iter(self._make())


def parts_of(value: Any, sort_key: Callable[[Any], Any]) -> Iterable[Any] | None:
    """Return what a container holds: `Pairs` for an object, any other iterable for a list; None: it is none.

    `sort_key` orders the members of a set.
    """
    if isinstance(value, Mapping):
        return Pairs(lambda: iter(value.items()))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return Pairs(lambda: zip(value._fields, value, strict=False))
    if isinstance(value, str | bytes | bytearray | memoryview | type | GeneratorType):
        return None
    if isinstance(value, Set):
        return _ordered(value, sort_key)
    if isinstance(value, Sequence) or type(value).__module__ == "collections":
        return value if isinstance(value, Iterable) else None
    if isinstance(value, ValuesView | ItemsView):
        return value
    names = _field_names(value)
    if names is not None:
        return Pairs(lambda: ((name, getattr(value, name)) for name in names))
    return None


def _field_names(value: Any) -> Sequence[str] | None:
    """Return the names of a record's fields, without those that its author keeps out of its text form."""
    kind = type(value)
    if is_dataclass(kind):
        return [field.name for field in fields(kind) if field.repr]
    if hasattr(kind, "__pydantic_validator__"):
        return [name for name, field in kind.model_fields.items() if field.repr and not field.exclude]
    described = getattr(kind, "__attrs_attrs__", None)
    return None if described is None else [field.name for field in described if field.repr]


def _ordered(values: Set[Any], sort_key: Callable[[Any], Any]) -> Iterable[Any]:
    if len(values) > _SORTED_SETS:
        return values
    # A set has no order of its own; the same set should read the same every time.
    return sorted(values, key=sort_key)
