"""JSON schema and validator of a callable's parameters, both made by pydantic from the same types.

Loaded when a tool's parameters are first needed, since it brings pydantic in.
"""

from __future__ import annotations

import copy
import json
import sys
import types
import typing
from collections.abc import Mapping
from typing import Annotated, Any

import typing_extensions
from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import PydanticUndefined, to_jsonable_python

from hookagent.errors import ToolDefinitionError
from hookagent.frozen import FrozenDict, freeze
from hookagent.tools.docstrings import read_docstring
from hookagent.tools.json_schema import inlined, untitled
from hookagent.tools.signature import EMPTY, Parameter, Signature
from hookagent.tools.validation import describe_parameters, validate

_LONGEST_DEFAULT = 500
# By another name, since type checkers know only fields that are written out.
_TYPED_DICT: Any = typing_extensions.TypedDict
_CONFIG = ConfigDict(extra="forbid", allow_inf_nan=False)


class Schema:
    """What a model may send to a callable.

    Attributes: `description` (of the callable, from its docstring), `parameters` (frozen JSON schema, an object
    without other keys). A parameter without a type takes any JSON value. Raises `ToolDefinitionError` for a type
    that JSON cannot carry.
    """

    __slots__ = ("_adapter", "_fill_in", "_names", "description", "expected", "parameters")

    def __init__(self, signature: Signature, docstring: str | None, source: str) -> None:
        documentation = read_docstring(docstring)
        self.description = documentation.description
        self._adapter, written = _make(signature.parameters, source)
        self._fill_in = {
            parameter.name: parameter.field
            for parameter in signature.parameters
            if parameter.field is not None and not parameter.field.is_required()
        }
        properties = written.setdefault("properties", {})
        for parameter in signature.parameters:
            described = properties[parameter.name]
            if "description" not in described and parameter.name in documentation.parameters:
                described["description"] = documentation.parameters[parameter.name]
            shown = _shown_default(parameter)
            if shown is not EMPTY:
                described["default"] = shown
        self.parameters: FrozenDict = freeze(inlined(written))
        self._names: tuple[str, ...] = tuple(properties)
        self.expected = describe_parameters(self.parameters)

    def validate(self, tool_name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """See `Tool.validate`."""
        values = validate(self._adapter.validator, tool_name, arguments, self.expected, self._names)
        for name, field in self._fill_in.items():
            if name not in values:
                values[name] = field.get_default(call_default_factory=True)
        return values


class _Generator(GenerateJsonSchema):
    """pydantic's own, without what is noise to a model."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - as pydantic declares it

    def field_title_should_be_set(self, schema: Any) -> bool:
        """No titles made of names."""
        return False

    def named_tuple_schema(self, schema: Any) -> JsonSchemaValue:
        """Show a named tuple as an object with its field names; it is validated from an object or a list."""
        fields = schema["fields"]
        written: JsonSchemaValue = {
            "type": "object",
            "properties": {field["name"]: self.generate_inner(field["schema"]) for field in fields},
            "additionalProperties": False,
        }
        required = [field["name"] for field in fields if field["schema"]["type"] != "default"]
        return {**written, "required": required} if required else written


def _make(parameters: tuple[Parameter, ...], source: str) -> tuple[TypeAdapter[Any], dict[str, Any]]:
    try:
        return _adapt(parameters)
    except Exception:
        for parameter in parameters:
            try:
                _adapt((parameter,))
            except Exception as error:
                reason = error.message if isinstance(error, PydanticUserError) else str(error)
                first_line = reason.strip().partition("\n")[0].rstrip(".")
                raise ToolDefinitionError(
                    f"tool {source}: the type of parameter '{parameter.name}' cannot come from a model as JSON "
                    f"({type(error).__name__}: {first_line}). use a type that JSON can carry (str, int, list, a "
                    "dataclass, a pydantic model, ...), bind the value with functools.partial, or leave the type out"
                ) from error
        raise


def _adapt(parameters: tuple[Parameter, ...]) -> tuple[TypeAdapter[Any], dict[str, Any]]:
    # A TypedDict and not a model: its keys may have any name, 'model_config' and '_x' included.
    fields = {parameter.name: _field_type(parameter) for parameter in parameters}
    arguments = _TYPED_DICT("Arguments", fields)
    arguments.__pydantic_config__ = _CONFIG
    adapter: TypeAdapter[Any] = TypeAdapter(arguments)
    written = adapter.json_schema(schema_generator=_Generator)
    return adapter, untitled(written)


def _field_type(parameter: Parameter) -> Any:
    annotation = Any if parameter.annotation is EMPTY else _portable(parameter.annotation, {})
    field = parameter.field
    required = parameter.default is EMPTY
    inner = getattr(parameter.annotation, "__metadata__", ())
    for one in (field, *inner):
        if isinstance(one, FieldInfo) and (one.alias is not None or one.validation_alias is not None):
            raise TypeError("Field(alias=...) is not supported on a tool's parameter; name the parameter so")
    if field is not None:
        required = field.is_required()
        bare = copy.copy(field)
        bare.default, bare.default_factory = PydanticUndefined, None
        annotation = Annotated[annotation, bare]
    elif not required and any(isinstance(one, FieldInfo) and not one.is_required() for one in inner):
        # As in Python, the default behind '=' holds, whatever the annotation says of one.
        kind = typing.get_args(annotation)[0]
        kind = typing.Optional[kind] if parameter.default is None else kind  # noqa: UP045 - a value, as below
        annotation = Annotated[(kind, *inner, Field(parameter.default))]
    elif parameter.default is None and annotation is not Any:
        annotation = typing.Optional[annotation]  # noqa: UP045 - a value, built at run time
    return annotation if required else typing_extensions.NotRequired[annotation]


def _portable(annotation: Any, seen: dict[Any, Any]) -> Any:
    """Replace each `typing.TypedDict`, which pydantic takes only from Python 3.12 on."""
    if sys.version_info >= (3, 12):  # pragma: no cover - the tests are measured with an older Python
        return annotation
    # Those of typing_extensions are no typed dicts to `typing` here.
    if typing.is_typeddict(annotation):
        if annotation not in seen:
            seen[annotation] = annotation
            hints = typing.get_type_hints(annotation, include_extras=True)
            fields = {}
            for key, hint in hints.items():
                if typing.get_origin(hint) in (typing.Required, typing.NotRequired):
                    required, hint = typing.get_origin(hint) is typing.Required, typing.get_args(hint)[0]
                else:
                    required = key in annotation.__required_keys__
                wrapper: Any = typing_extensions.Required if required else typing_extensions.NotRequired
                fields[key] = wrapper[_portable(hint, seen)]
            made = _TYPED_DICT(annotation.__name__, fields)
            made.__doc__ = annotation.__doc__
            seen[annotation] = made
        return seen[annotation]
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        inner = _portable(arguments[0], seen)
        return annotation if inner is arguments[0] else Annotated[(inner, *arguments[1:])]
    if origin is None or origin is typing.Literal or any(isinstance(part, list) for part in arguments):
        return annotation
    changed = tuple(_portable(part, seen) for part in arguments)
    if all(new is old for new, old in zip(changed, arguments, strict=True)):
        return annotation
    return typing.Union[changed] if origin in (typing.Union, types.UnionType) else origin[changed]  # noqa: UP007


def _shown_default(parameter: Parameter) -> Any:
    default = parameter.default
    field = parameter.field
    if field is not None:
        default = EMPTY if field.default is PydanticUndefined else field.default
    if default is EMPTY:
        return EMPTY
    try:
        if isinstance(default, tuple) and hasattr(default, "_asdict"):
            default = default._asdict()
        shown = to_jsonable_python(default)
        return freeze(shown) if len(json.dumps(shown, allow_nan=False)) <= _LONGEST_DEFAULT else EMPTY
    except Exception:
        # A default that has no JSON form is still used; it is only not shown.
        return EMPTY
