"""From pydantic's errors to problems with a place, a plain sentence and a suggestion.

Used for the configuration itself, and by the host for the options of each plugin, so that a slip in an option
reads like every other: `agent.yaml:9:5: unknown key 'plugins.context-window.warn_att'; did you mean 'warn_at'?`
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from hookagent.config.field_names import key_names, nested_paths
from hookagent.config.model import Config
from hookagent.config.positions import Document, KeyPath, Positions
from hookagent.config.problems import ConfigError, ConfigProblem, Place, closest, shown, suggestion
from hookagent.config.scalars import resolve_scalar
from hookagent.config.secrets import is_secret

_EXPECTED = {
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number of usual size",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "text",
    "string_sub_type": "text",
    "list_type": "a list",
    "tuple_type": "a list",
    "set_type": "a list",
    "frozen_set_type": "a list",
    "dict_type": "a mapping",
    "mapping_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "dataclass_type": "a mapping",
}
_BOUNDS = {
    "greater_than_equal": ("ge", "at least"),
    "greater_than": ("gt", "greater than"),
    "less_than_equal": ("le", "at most"),
    "less_than": ("lt", "less than"),
}
_UNKNOWN = frozenset({"extra_forbidden", "unexpected_keyword_argument"})
_TEXT_TO_NUMBER = frozenset({"int_type", "float_type", "bool_type"})
_LOOSE_BOOLEANS = frozenset({"yes", "no", "on", "off", "y", "n", "true", "false"})


def validate(document: Document) -> Config:
    """Return the configuration that a document stands for. Raises `ConfigError` with everything wrong with it."""
    _report_empty(document)
    error: ValidationError | None = None
    config: Config | None = None
    # A variable holds text; where a number or a boolean is wanted, that text is read like a plain YAML scalar.
    for _ in range(2):
        try:
            config, error = Config.model_validate(document.data, by_alias=True, by_name=False), None
        except ValidationError as caught:
            error = caught
            if not _read_expanded(document, caught):
                break
    found = [] if error is None else _problems(error, document.positions, (), Config, document.broken)
    if document.problems or found or config is None:
        raise ConfigError([*document.problems, *found])
    return config


def problems_from(
    validation_error: ValidationError,
    positions: Positions,
    prefix: KeyPath | str = (),
    model: type[BaseModel] | None = None,
    data: Any = None,
) -> list[ConfigProblem]:
    """Return the problems that a pydantic error stands for.

    `prefix` is where the validated values stand in the configuration: a key path, or the name of a plugin, whose
    options are meant. `model` is the class that was validated against; without it there are no suggestions for
    unknown keys. `positions` may be empty (options given in Python): the problems then have no place, and `data`,
    the values that were validated, tells keys from the names of types that pydantic puts between them.
    """
    path = positions.plugin_options(prefix) if isinstance(prefix, str) else prefix
    if data is not None and not positions.knows(path):
        positions = Positions(plugin_names=positions.plugin_names)
        positions.cover(path, data, Place(""))
    return _problems(validation_error, positions, path, model, set())


def _problems(
    error: ValidationError, positions: Positions, prefix: KeyPath, model: type[BaseModel] | None, broken: set[KeyPath]
) -> list[ConfigProblem]:
    # The members of a union each complain about the same value: one problem.
    by_value: dict[tuple[KeyPath, bool], list[ErrorDetails]] = {}
    for details in error.errors(include_url=False):
        path = _known_part(positions, prefix, details)
        if not any(path[:length] in broken for length in range(len(path) + 1)):
            by_value.setdefault((path, details["type"] in _UNKNOWN), []).append(details)
    return [
        positions.problem(path, _joined(positions.label(path), path[len(prefix) :], members, model), at_key=at_key)
        for (path, at_key), members in by_value.items()
    ]


def _joined(label: str, inside: KeyPath, members: list[ErrorDetails], model: type[BaseModel] | None) -> str:
    expected = list(dict.fromkeys(_EXPECTED.get(details["type"], "") for details in members))
    if len(expected) > 1 and all(expected):
        names = [part for part in inside if isinstance(part, str)]
        return f"{label} must be {' or '.join(expected)}, found {_described(members[0]['input'], names)}"
    return "; or: ".join(dict.fromkeys(_sentence(label, inside, details, model) for details in members))


def _known_part(positions: Positions, prefix: KeyPath, details: ErrorDetails) -> KeyPath:
    """Return the key path of an error, without the names of union members that pydantic puts into it."""
    location: tuple[int | str, ...] = details["loc"]
    if not positions.values:
        return (*prefix, *location)
    path = prefix
    for index, part in enumerate(location):
        last = index == len(location) - 1
        if positions.knows((*path, part)) or (last and details["type"] in {"missing", *_UNKNOWN}):
            path = (*path, part)
    return path


def _sentence(label: str, inside: KeyPath, details: ErrorDetails, model: type[BaseModel] | None) -> str:
    kind, value, context = details["type"], details["input"], details.get("ctx", {})
    names = [part for part in inside if isinstance(part, str)]
    if kind in _UNKNOWN:
        return f"unknown key '{label}'{_key_suggestion(inside, model)}"
    if kind in ("missing", "missing_argument"):
        return f"missing key '{label}'; it has no default"
    if value is None and kind != "value_error":
        return f"{label} is empty; give it a value or remove the line"
    found = _described(value, names)
    if kind in _EXPECTED:
        return f"{label} must be {_EXPECTED[kind]}, found {found}{_hint(kind, value)}"
    if kind in _BOUNDS:
        bound, words = _BOUNDS[kind]
        return f"{label} must be {words} {_number(context[bound])}, found {found}"
    if kind in ("literal_error", "enum"):
        return f"{label} must be {context['expected']}, found {found}{_choice_hint(context, value, names)}"
    if kind in ("string_too_short", "string_pattern_mismatch") and isinstance(value, str) and not value.strip():
        return f"{label} is empty; give it a value or remove the line"
    if kind in ("value_error", "assertion_error"):
        reason = str(context.get("error", "not a valid value")) or "not a valid value"
        return f"{label}: {reason}" if label else reason
    message = details["msg"]
    return f"{label}: {message[:1].lower()}{message[1:]}"


def _key_suggestion(inside: KeyPath, model: type[BaseModel] | None) -> str:
    if model is None:
        return ""
    word = str(inside[-1])
    near = suggestion(word, key_names(model, inside[:-1]))
    if near:
        return near
    # The right key at the wrong level: 'max_iterations' beside 'limits' instead of in it.
    elsewhere: dict[str, list[str]] = {}
    for path in nested_paths(model):
        elsewhere.setdefault(path.rpartition(".")[2], []).append(f"'{path}'")
    match = closest(word, elsewhere)
    return f"; did you mean {' or '.join(elsewhere[match])}?" if match is not None else ""


def _described(value: Any, names: Sequence[str]) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    hidden = is_secret(value, *names)
    if isinstance(value, str):
        return "text" if hidden else f"the text '{shown(value)}'"
    if isinstance(value, int | float):
        return "a number" if hidden else shown(str(value))
    return f"a value of type {type(value).__name__}"


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _hint(kind: str, value: Any) -> str:
    if kind.startswith("bool") and isinstance(value, str) and value.lower() in _LOOSE_BOOLEANS:
        return "; only true and false are booleans"
    if kind.startswith("string") and isinstance(value, bool | int | float):
        return "; put it in quotes"
    if kind == "string_type" and isinstance(value, Mapping):
        return "; put text that holds ': ' in quotes"
    if kind == "list_type" and isinstance(value, str):
        return "; write '[ ]' around it"
    return ""


def _choice_hint(context: Mapping[str, Any], value: Any, names: Sequence[str]) -> str:
    if not isinstance(value, str) or is_secret(value, *names):
        return ""
    choices = [part.strip().strip("'") for part in str(context["expected"]).replace(" or ", ", ").split(", ")]
    return suggestion(value, choices)


def _report_empty(document: Document) -> None:
    """Report each key that was written without a value: such a line looks like a setting, and would be none.

    Where no limit is a value, `null` says so.
    """
    sections: list[tuple[KeyPath, Any]] = [((), document.data)]
    sections += [((name,), document.data.get(name)) for name in ("model_settings", "limits")]
    entries = document.data.get("plugins")
    sections += [
        (("plugins", index), entry) for index, entry in enumerate(entries if isinstance(entries, list) else ())
    ]
    for path, section in sections:
        for key, value in section.items() if isinstance(section, dict) else ():
            below = (*path, key)
            known = key in key_names(Config, path)
            spoken = key == "time_limit" or (path == ("limits",) and below not in document.empty)
            if value is None and known and not spoken and below not in document.broken:
                document.report(
                    below, f"{document.positions.label(below)} is empty; give it a value or remove the line"
                )


def _read_expanded(document: Document, error: ValidationError) -> bool:
    changed = False
    for details in error.errors(include_url=False):
        path: KeyPath = details["loc"]
        text = details["input"]
        if details["type"] not in _TEXT_TO_NUMBER or path not in document.positions.expanded:
            continue
        value = resolve_scalar(text) if isinstance(text, str) else None
        if value is not None and not isinstance(value, str):
            parent: Any = document.data
            for part in path[:-1]:
                parent = parent[part]
            parent[path[-1]] = value
            changed = True
    return changed
