"""Frozen dataclasses that are made as fast as ordinary ones.

The `__init__` that `dataclass(frozen=True)` writes calls `object.__setattr__` once for each field, which takes two
thirds of the time that making a message, a result or a request takes; each round makes about a dozen of them.
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any, TypeVar

ValueT = TypeVar("ValueT")


def made_quickly(value: type[ValueT]) -> type[ValueT]:
    """Give a frozen dataclass with slots an `__init__` of the same signature that assigns its fields plainly.

    While its slots are filled the new object belongs to a twin class of the same layout whose attributes can be set;
    then it becomes what it is, and is as frozen as any. Subclasses, whose layout may differ, keep the slow way.
    Raises `TypeError` for a dataclass with a `__post_init__`, or with other bases than `object`.
    """
    if hasattr(value, "__post_init__") or value.__bases__ != (object,):
        raise TypeError(f"{value.__name__}: only a plain frozen dataclass can be made quickly")
    slots: tuple[str, ...] = value.__slots__  # type: ignore[attr-defined]
    space: dict[str, Any] = {
        "_frozen": value,
        "_slow": value.__init__,
        "_open": type(f"_Open{value.__name__}", (), {"__slots__": slots}),
        "_put": object.__setattr__,
        "_missing": MISSING,
    }
    parameters, lines, given = ["self"], [], []
    for field in fields(value):  # type: ignore[arg-type]
        name, made = field.name, f"_default_{field.name}"
        has_factory = field.default_factory is not MISSING
        space[made] = field.default_factory if has_factory else field.default
        if not field.init:
            lines.append(f"self.{name} = {made}()" if has_factory else f"self.{name} = {made}")
            continue
        given.append(name)
        if has_factory:
            parameters.append(f"{name}=_missing")
            lines.append(f"self.{name} = {made}() if {name} is _missing else {name}")
        else:
            parameters.append(name if field.default is MISSING else f"{name}={made}")
            lines.append(f"self.{name} = {name}")
    body = "\n    ".join(
        [
            "if type(self) is not _frozen:",
            f"    return _slow(self, {', '.join(given)})",
            "_put(self, '__class__', _open)",
            *lines,
            "self.__class__ = _frozen",
        ]
    )
    # Names and defaults come from the class itself, as where `dataclass` writes its own methods.
    exec(f"def __init__({', '.join(parameters)}):\n    {body}", space)
    made_init = space["__init__"]
    made_init.__qualname__ = f"{value.__qualname__}.__init__"
    made_init.__annotations__ = dict(value.__init__.__annotations__)
    value.__init__ = made_init  # type: ignore[method-assign]
    return value
