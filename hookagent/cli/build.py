"""From what was typed and configured to an agent; whatever cannot be used is reported with its place, all at once."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from hookagent import discovery
from hookagent.cli.escaping import one_line
from hookagent.cli.options import Choices
from hookagent.errors import ConfigurationError, PluginLoadError, ToolDefinitionError
from hookagent.sessions.errors import SessionError

if TYPE_CHECKING:
    from hookagent.agent import Agent
    from hookagent.config import Config, ConfigProblem, LoadedConfig, Positions
    from hookagent.host import PluginEntry
    from hookagent.tools.tool import Tool

AGENT = "hookagent"
"""The name of the command's agent: of its logs, and in the list of sessions."""
APPROVAL = "human-approval"
DEFAULT_PLUGINS = ("tool-logging", "context-window", APPROVAL)
"""What a command without a `plugins:` list enables, as far as it is installed (design, "Plugins")."""
DEFAULT_TOOLS = ("files",)
"""What a command gives the model that names no tools; writing needs an approval then."""

_NAME_OF_A_PLUGINS_TOOL = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def read_choices(choices: Choices) -> LoadedConfig:
    """Read the configuration with the options applied. Raises `ConfigError` with everything that is wrong."""
    from hookagent.config import ConfigError, read_config

    try:
        return read_config(
            choices.file, overrides=choices.overrides, plugins=choices.plugins, default_plugins=DEFAULT_PLUGINS
        )
    except ConfigError as error:
        problems = list(error.problems)
        if error.plugins is not None:
            _plugin_entries(error.plugins, choices, problems)
        raise ConfigError(problems) from error


def build_agent(loaded: LoadedConfig, choices: Choices) -> Agent:
    """Make the agent of a configuration and options; enabled plugins are loaded, no model is asked.

    A session that is to go on is taken: nobody else can have it until the agent is closed.

    A directory that holds tools or plugins named as modules is the working directory, which is put at the end of
    the import path for them. Raises `ConfigurationError` for tools, plugins, options of plugins and rules that
    cannot be used: all of them at once, as far as one does not hide the other; and `SessionError`.
    """
    from hookagent.agent import Agent
    from hookagent.config import ConfigError

    config = loaded.config
    reach_working_directory(config, choices.tools)
    problems: list[ConfigProblem] = []
    names, unknown = _tools(loaded, choices, problems)
    entries = _plugin_entries(loaded, choices, problems)
    model = _model(loaded, choices, problems)
    if problems:
        raise ConfigError([*([] if _brings_tools(entries) else unknown.values()), *problems])
    settings = config.model_settings.model_dump(by_alias=True)
    make = partial(
        Agent,
        AGENT,
        system_prompt=config.system_prompt or "",
        model=model,
        plugins=entries,
        limits=config.limits.model_dump() | dict(choices.limits),
        model_settings={name: value for name, value in settings.items() if value is not None and value not in ([], {})},
        tool_execution=config.tool_execution,
        tool_result_limit=config.tool_result_limit,
        session=choices.session,
        quiet=True,
    )
    try:
        agent = make(tools=names)
    except ConfigurationError as error:
        # A plugin that cannot be loaded or fails to bring its tools may be why a name is not known.
        if not unknown or isinstance(error, PluginLoadError | SessionError):
            raise
        raise ConfigError(list(unknown.values())) from None
    # Made when first needed, which would be in the middle of the run, and charged to whoever looked first.
    faults = [fault for tool in agent.tools if (fault := _schema_fault(tool)) is not None]
    if faults:
        agent.close_sync()
        raise ConfigError(faults)
    return agent


def refuse_unguarded(agent: Agent, loaded: LoadedConfig) -> None:
    """Refuse an agent whose tools can change something while no plugin decides on their calls.

    `no:human-approval`, by option or by `HOOKAGENT_PLUGINS`, is the answer that lets it be (design, "Plugins").
    Raises `ConfigurationError`.
    """
    from hookagent.host import hook_table

    changing = [tool.name for tool in agent.tools if tool.effect != "reads"]
    if not changing or APPROVAL in loaded.refused_plugins:
        return
    table = hook_table(agent.plugins)
    if table.before_tools or table.before_each_tool:
        return
    names = ", ".join(f"'{name}'" for name in changing[:4]) + (" and others" if len(changing) > 4 else "")
    known = any(one.name == APPROVAL for one in discovery.installed())
    how = f"'-p {APPROVAL}'" if known else f"pip install hookagent-{APPROVAL}"
    raise ConfigurationError(
        f"tools: {names} can change things, and no enabled plugin decides on calls (before_tools or "
        f"before_each_tool); enable one ({how}), or say '-p no:{APPROVAL}' to run them without asking"
    )


def plugin_entries(loaded: LoadedConfig) -> list[tuple[int, PluginEntry]]:
    """The enabled plugins, each with its index in the list; defaults that are not installed are left out."""
    from hookagent.host import UNSET, PluginEntry

    installed = {one.name for one in discovery.installed()}
    found = []
    for index, entry in enumerate(loaded.config.plugins or ()):
        by_default = loaded.positions.value(("plugins", index)).file == "default"
        if by_default and entry.use not in installed:
            continue
        limit = entry.time_limit if entry.time_limit_given else UNSET
        found.append((index, PluginEntry(entry.use, dict(entry.options), entry.on_error, limit)))
    return found


def reach_working_directory(config: Config, tools: Sequence[str] = ()) -> None:
    """Make modules of the working directory importable, behind all others, where one may be meant.

    At the end, so that no file that happens to lie there takes the place of a library; and only then, so that what
    lies there is not even searched for plugins that nobody named.
    """
    discovery.installed()
    names = [*config.tools, *tools]
    plugins = [entry.use for entry in config.plugins or ()]
    if any(":" in name for name in names) or any("." in name for name in plugins):
        here = os.getcwd()
        if here not in sys.path:
            sys.path.append(here)


def _plugin_entries(loaded: LoadedConfig, choices: Choices, problems: list[ConfigProblem]) -> list[PluginEntry]:
    """The entries with the rules of this run, their options checked where the options were written."""
    from dataclasses import replace

    rules = {"allow": choices.allow, "ask": choices.ask, "deny": choices.deny}
    entries = plugin_entries(loaded)
    enabled = [entry.use for _, entry in entries]
    for name, patterns in rules.items():
        if patterns and APPROVAL not in enabled:
            problems.append(
                _problem(
                    f"--{name} {one_line(patterns[0], 60)}",
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


def _brings_tools(entries: Sequence[PluginEntry]) -> bool:
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
    path = ("plugins", index, "use")
    try:
        target = discovery.find(entry.use).load()
    except PluginLoadError as error:
        yield loaded.positions.problem(path, str(error))
        return
    model = getattr(target, "Options", None)
    if isinstance(target, type) and isinstance(model, type):
        from pydantic import BaseModel, ValidationError

        from hookagent.config import problems_from

        if issubclass(model, BaseModel):
            try:
                model.model_validate(dict(entry.options or {}))
            except ValidationError as error:
                yield from problems_from(error, loaded.positions, entry.use, model, dict(entry.options or {}))


def _tools(
    loaded: LoadedConfig, choices: Choices, problems: list[ConfigProblem]
) -> tuple[list[str], dict[str, ConfigProblem]]:
    """The names of the tools, and those that only a plugin can still make good, each with its problem if none does."""
    from hookagent.tools.builtin import resolve_tools

    configured = list(loaded.config.tools)
    if not configured and not choices.tools and "tools" not in loaded.config.model_fields_set:
        configured = list(DEFAULT_TOOLS)
    places = [(name, str(loaded.positions.value(("tools", index)))) for index, name in enumerate(configured)]
    places += [(name, f"-t {one_line(name, 60)}".rstrip()) for name in choices.tools]
    unknown: dict[str, ConfigProblem] = {}
    for name, place in places:
        try:
            resolve_tools([name])
        except ConfigurationError as error:
            problem = _problem(place if place != "default" else "", str(error))
            if _NAME_OF_A_PLUGINS_TOOL.fullmatch(name):
                unknown[name] = problem
            else:
                problems.append(problem)
    return [name for name, _ in places], unknown


def _schema_fault(tool: Tool) -> ConfigProblem | None:
    """What is wrong with the types of a tool's parameters, which a model has to be told."""
    try:
        _ = tool.parameters
    except ToolDefinitionError as error:
        return _problem("", str(error))
    return None


def _model(loaded: LoadedConfig, choices: Choices, problems: list[ConfigProblem]) -> Any:
    """The provider of the model that was named, or None: the environment decides when it is needed."""
    from hookagent.providers.routing import provider_for

    if choices.model is None and loaded.config.model is None:
        return None
    place = "-m" if choices.model is not None else str(loaded.positions.value(("model",)))
    try:
        return provider_for(choices.model if choices.model is not None else loaded.config.model or "")
    except ConfigurationError as error:
        problems.append(_problem(place, str(error)))
        return None


def _problem(place: str, message: str) -> ConfigProblem:
    from hookagent.config import ConfigProblem

    return ConfigProblem(place, None, None, message)
