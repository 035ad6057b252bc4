"""Which plugins a command enables, with which options, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hookagent import discovery
from hookagent.cli.defaults import APPROVAL, is_absent_default
from hookagent.cli.options import Choices
from hookagent.errors import PluginLoadError
from hookagent.escaping import one_line

if TYPE_CHECKING:
    from hookagent.config import ConfigProblem, LoadedConfig, Positions
    from hookagent.config.positions import KeyPath
    from hookagent.host import PluginEntry


def plugin_entries(loaded: LoadedConfig) -> list[tuple[int, PluginEntry]]:
    """The enabled plugins, each with its index in the list; defaults that are not installed are left out."""
    from hookagent.host import UNSET, PluginEntry

    found = []
    for index, entry in enumerate(loaded.config.plugins or ()):
        if is_absent_default(loaded, index):
            continue
        limit = entry.time_limit if entry.time_limit_given else UNSET
        found.append((index, PluginEntry(entry.use, dict(entry.options), entry.on_error, limit)))
    return found


def entries_with_rules(loaded: LoadedConfig, choices: Choices, problems: list[ConfigProblem]) -> list[PluginEntry]:
    """The entries with the rules of this run, their options checked where the options were written."""
    from hookagent.config import ConfigProblem, Place

    rules = {"allow": choices.allow, "ask": choices.ask, "deny": choices.deny}
    entries = plugin_entries(loaded)
    enabled = [entry.use for _, entry in entries]
    for name, patterns in rules.items():
        if patterns and APPROVAL not in enabled:
            problems.append(
                ConfigProblem.at(
                    Place(f"--{name} {one_line(patterns[0], 60)}"),
                    f"a rule of the plugin '{APPROVAL}', which is not enabled; add '-p {APPROVAL}'",
                )
            )
    made = []
    for index, entry in entries:
        if entry.use == APPROVAL:
            entry = replace(entry, options=_with_rules(dict(entry.options or {}), rules, index, loaded.positions))
        problems.extend(_option_problems(loaded, index, entry))
        made.append(entry)
    return made


def placed(loaded: LoadedConfig, error: PluginLoadError) -> Exception:
    """An error of a plugin with the place where that plugin was named, as far as it was."""
    from hookagent.config import ConfigError

    for index, entry in plugin_entries(loaded):
        if entry.use == error.plugin:
            return ConfigError([loaded.positions.problem(("plugins", index, "use"), str(error))])
    return error


def bring_tools(entries: Sequence[PluginEntry]) -> bool:
    """Whether one of the plugins, as far as they can be imported, may register a tool that is not known yet."""
    for entry in entries:
        try:
            if "." in entry.use or hasattr(discovery.find(entry.use).load(), "register_tools"):
                return True
        except PluginLoadError:
            continue
    return False


def _with_rules(
    options: dict[str, Any], rules: dict[str, tuple[str, ...]], index: int, positions: Positions
) -> dict[str, Any]:
    """Add the patterns to the options of the entry at `index`; the place of each is the option it was typed behind."""
    from hookagent.config import Place

    path = ("plugins", index, "with")
    for name, patterns in rules.items():
        before = options.get(name, [])
        if not patterns or not isinstance(before, list):
            continue
        options[name] = [*before, *patterns]
        for known in (path, (*path, name)):
            if not positions.knows(known):
                positions.record(known, Place(f"--{name}"), Place(f"--{name}"))
        for number, pattern in enumerate(patterns, len(before)):
            place = Place(f"--{name} {one_line(pattern, 60)}".rstrip())
            positions.record((*path, name, number), place, place)
    return options


def _option_problems(loaded: LoadedConfig, index: int, entry: PluginEntry) -> Iterator[ConfigProblem]:
    """What is wrong with one entry: a plugin that cannot be loaded, or options that it does not take."""
    if "." in entry.use and all(one.name != entry.use for one in discovery.installed()):
        return
    path: KeyPath = ("plugins", index, "use")
    try:
        found = discovery.find(entry.use)
        target = found.load()
    except PluginLoadError as error:
        yield loaded.positions.problem(path, str(error))
        return
    model = getattr(target, "Options", None)
    if entry.options and (model is None or not isinstance(target, type)):
        from hookagent.host import takes_no_options

        refusal = takes_no_options(entry.use, found.distribution, entry.options)
        path = ("plugins", index, "with", next(iter(entry.options)))
        yield loaded.positions.problem(path, str(refusal), at_key=True)
        return
    if isinstance(target, type) and isinstance(model, type):
        from pydantic import BaseModel, ValidationError

        from hookagent.config import problems_from

        if issubclass(model, BaseModel):
            try:
                model.model_validate(dict(entry.options or {}))
            except ValidationError as error:
                yield from problems_from(error, loaded.positions, entry.use, model, dict(entry.options or {}))
