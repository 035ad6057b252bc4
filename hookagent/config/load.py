"""Everything together: find, read, expand, override, check.

The order, and so what wins: defaults, the file, `-o plugins=...`, `HOOKAGENT_PLUGINS`, `-p`, then the other `-o`
in the order given.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hookagent.config.discover import displayed, find_config
from hookagent.config.model import Config
from hookagent.config.overrides import apply_overrides, read_overrides
from hookagent.config.plugin_entries import normalise_plugins
from hookagent.config.plugin_switches import VARIABLE, apply_switches, switches
from hookagent.config.positions import Document, Positions
from hookagent.config.problems import ConfigError, Place, fail
from hookagent.config.pyproject import parse_pyproject
from hookagent.config.source import read_source
from hookagent.config.system_prompt import read_system_prompt
from hookagent.config.validation import validate
from hookagent.config.variables import expand_variables
from hookagent.config.yaml_nodes import parse_yaml

DEFAULT = Place("default")


@dataclass(frozen=True, slots=True)
class LoadedConfig:
    """A configuration and where it comes from.

    `file` is the file that was read, or None. `positions` are the places of all values, for errors found later
    (see `problems_from`) and for `render_config`. `refused_plugins` are the names that a `no:NAME` switched off.
    """

    config: Config
    positions: Positions
    file: Path | None = None
    refused_plugins: frozenset[str] = frozenset()


def load_config(
    path: str | os.PathLike[str] | None = None,
    *,
    overrides: Sequence[str] = (),
    plugins: Sequence[str] = (),
    default_plugins: Sequence[str] | None = None,
    environment: Mapping[str, str] | None = None,
    working_directory: str | os.PathLike[str] | None = None,
) -> Config:
    """Return the configuration that holds; the arguments and the errors are those of `read_config`."""
    return read_config(
        path,
        overrides=overrides,
        plugins=plugins,
        default_plugins=default_plugins,
        environment=environment,
        working_directory=working_directory,
    ).config


def read_config(
    path: str | os.PathLike[str] | None = None,
    *,
    overrides: Sequence[str] = (),
    plugins: Sequence[str] = (),
    default_plugins: Sequence[str] | None = None,
    environment: Mapping[str, str] | None = None,
    working_directory: str | os.PathLike[str] | None = None,
) -> LoadedConfig:
    """Read the configuration (design, "The outside contract", YAML).

    `path` is a YAML file, or a TOML file with `[tool.hookagent]`; None looks for one, and takes the defaults where
    there is none. `overrides` are texts as behind `-o`, `plugins` as behind `-p`. `default_plugins` stand in where
    the file has no `plugins` key; with None, the key stays None unless a plugin is added. `environment` (default:
    the process's) gives the variables and `HOOKAGENT_PLUGINS`; `working_directory` (default: the process's) is where
    the search begins and relative paths start.

    Raises `ConfigError` with everything that is wrong, whichever layer it stands in. What is not even YAML or TOML
    is the only problem reported then.
    """
    environment = os.environ if environment is None else environment
    folder = _folder(working_directory)
    file = folder / path if path is not None else find_config(folder, _home(environment))
    if file is None:
        document = Document({}, Positions())
    else:
        document = _parse(file, os.fspath(path) if path is not None else displayed(file, folder), path is not None)
    normalise_plugins(document, environment)
    refused = _override(document, tuple(overrides), plugins, default_plugins, environment)
    # Last, so that a plugin that is switched off needs no variable.
    expand_variables(document, environment)
    read_system_prompt(document, folder, file)
    try:
        config = validate(document)
    except ConfigError as error:
        error.usable = _usable(document, file, frozenset(refused))
        raise
    return LoadedConfig(config, document.positions, file, frozenset(refused))


def _usable(document: Document, file: Path | None, refused: frozenset[str]) -> LoadedConfig:
    """What a faulty document says of plugins, tools and model, as far as that is whole; the rest is not set."""
    from pydantic import ValidationError

    whole: dict[str, Any] = {}
    for key in ("model", "tools", "plugins"):
        value = document.data.get(key)
        if value is None or (key != "plugins" and any(path[:1] == (key,) for path in document.broken)):
            continue
        try:
            Config.model_validate({key: value})
        except ValidationError:
            continue
        whole[key] = value
    return LoadedConfig(Config.model_validate(whole), document.positions, file, refused)


def _override(
    document: Document,
    options: tuple[str, ...],
    plugins: Sequence[str],
    default_plugins: Sequence[str] | None,
    environment: Mapping[str, str],
) -> set[str]:
    overrides = read_overrides(options, document.problems)
    apply_overrides(document, [override for override in overrides if override.parts == ("plugins",)], environment)
    if default_plugins is not None and "plugins" not in document.data and ("plugins",) not in document.broken:
        document.data["plugins"] = list(default_plugins)
        document.positions.cover(("plugins",), document.data["plugins"], DEFAULT)
        normalise_plugins(document, environment)
    refused: set[str] = set()
    # A list that is itself faulty (or empty where it must not be) is reported; switching plugins in it is not tried.
    if isinstance(document.data.get("plugins", []), list) and ("plugins",) not in document.broken:
        words = switches(environment.get(VARIABLE, ""), plugins)
        refused = apply_switches(document, words, default_plugins or ())
    rest = [override for override in overrides if override.parts != ("plugins",)]
    apply_overrides(document, rest, environment)
    return refused


def _parse(file: Path, name: str, named: bool) -> Document:
    text = read_source(file, name)
    if file.suffix != ".toml":
        return parse_yaml(text, name)
    document = parse_pyproject(text, name)
    if document is None:
        advice = "add it, or leave the option out" if named else "add it"
        raise fail(Place(name), f"there is no section '[tool.hookagent]'; {advice}")
    return document


def _folder(working_directory: str | os.PathLike[str] | None) -> Path:
    try:
        return Path(working_directory).absolute() if working_directory is not None else Path.cwd()
    except OSError:
        raise fail(Place("working directory"), "it does not exist any more; change to another one") from None


def _home(environment: Mapping[str, str]) -> Path | None:
    try:
        return Path(environment.get("HOME") or Path.home())
    except RuntimeError:
        return None
