"""The keys that a pydantic model takes, as they are written in YAML, at every level."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from hookagent.config.positions import KeyPath


def key_names(model: type[BaseModel], path: KeyPath = ()) -> list[str]:
    """Return the keys that may stand at `path` inside the values of `model`; none when nothing fixed stands there."""
    annotations: list[Any] = [model]
    for part in path:
        if isinstance(part, str):
            annotations = [inner for annotation in annotations for inner in _step(annotation, part)]
    models = [candidate for annotation in annotations for candidate in _models_in(annotation)]
    return [_key(name, field) for candidate in models for name, field in candidate.model_fields.items()]


def nested_paths(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Yield the dotted paths of the keys in the sections of `model` (not those in lists)."""
    for name, field in model.model_fields.items():
        annotation = field.annotation
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            section = f"{prefix}{_key(name, field)}."
            yield from (f"{section}{key}" for key in key_names(annotation))
            yield from nested_paths(annotation, section)


def _step(annotation: Any, key: str) -> Iterator[Any]:
    """Yield the types that may stand under a key of a value of the annotated type."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield from (field.annotation for name, field in annotation.model_fields.items() if key == _key(name, field))
    elif isinstance(origin := typing.get_origin(annotation), type) and issubclass(origin, Mapping):
        yield typing.get_args(annotation)[-1]
    else:
        for argument in typing.get_args(annotation):
            yield from _step(argument, key)


def _key(name: str, field: FieldInfo) -> str:
    # An alias of several choices or a path has no single spelling.
    return field.validation_alias if isinstance(field.validation_alias, str) else name


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        return
    for argument in typing.get_args(annotation):
        yield from _models_in(argument)
