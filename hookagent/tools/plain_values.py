"""The commonest arguments, recognised without a validator: plain values of exactly the types that are wanted.

Such values need no conversion, so there is nothing for pydantic to do. Everything else, every mistake included, is
left to it.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from typing import Any

from hookagent.tools.signature import EMPTY, Parameter

_PLAIN = (str, int, float, bool, type(None))
_UNIONS = (typing.Union, types.UnionType)


class PlainValues:
    """What the parameters of one callable take, where all of them are texts, numbers, truth values or None."""

    __slots__ = ("_kinds", "_required")

    def __init__(self, kinds: dict[str, frozenset[type]], required: tuple[str, ...]) -> None:
        self._kinds = kinds
        self._required = required

    def taken(self, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
        """The values by parameter name, as they are; None: a validator has to look at them."""
        kinds = self._kinds
        for name, value in arguments.items():
            kind = type(value)
            if kind not in kinds.get(name, ()):
                return None
            # Lone surrogates, and numbers that are none, are for the validator.
            if (kind is str and not value.isascii()) or (kind is float and value - value != 0.0):
                return None
        for name in self._required:
            if name not in arguments:
                return None
        return dict(arguments)


def plain_values(parameters: tuple[Parameter, ...]) -> PlainValues | None:
    """What recognises plain arguments for `parameters`; None where one of them takes anything else."""
    kinds: dict[str, frozenset[type]] = {}
    for parameter in parameters:
        annotation = parameter.annotation
        members = typing.get_args(annotation) if typing.get_origin(annotation) in _UNIONS else (annotation,)
        if parameter.field is not None or not all(member in _PLAIN for member in members):
            return None
        kinds[parameter.name] = frozenset((*members, type(None)) if parameter.default is None else members)
    return PlainValues(kinds, tuple(parameter.name for parameter in parameters if parameter.default is EMPTY))
