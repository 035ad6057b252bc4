"""From what was typed and configured to an agent; whatever cannot be used is reported with its place, all at once."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from hookagent import discovery
from hookagent.cli.defaults import AGENT, APPROVAL, DEFAULT_PLUGINS, default_tools
from hookagent.cli.enabled import bring_tools, entries_with_rules, placed
from hookagent.cli.options import Choices
from hookagent.errors import ConfigurationError, PluginLoadError, ToolDefinitionError
from hookagent.escaping import one_line
from hookagent.sessions.errors import SessionError

if TYPE_CHECKING:
    from hookagent.agent import Agent
    from hookagent.config import Config, ConfigProblem, LoadedConfig
    from hookagent.tools.tool import Tool

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
        if error.usable is not None:
            _check(error.usable, choices, problems)
        raise ConfigError(problems) from error


def _check(usable: LoadedConfig, choices: Choices, problems: list[ConfigProblem]) -> None:
    """What is wrong with the tools, the plugins and the model of a configuration that has other faults too."""
    reach_working_directory(usable.config, choices.tools)
    _, unknown = _tools(usable, choices, problems)
    if usable.config.plugins is not None and not bring_tools(entries_with_rules(usable, choices, problems)):
        problems.extend(unknown.values())
    _model(usable, choices, problems)


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
    entries = entries_with_rules(loaded, choices, problems)
    model = _model(loaded, choices, problems)
    if problems:
        raise ConfigError([*([] if bring_tools(entries) else unknown.values()), *problems])
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
    except PluginLoadError as error:
        raise placed(loaded, error) from error
    except ConfigurationError as error:
        # A plugin that cannot be loaded or fails to bring its tools may be why a name is not known.
        if not unknown or isinstance(error, SessionError):
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
    from hookagent.registering import hook_table

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


def _tools(
    loaded: LoadedConfig, choices: Choices, problems: list[ConfigProblem]
) -> tuple[list[str], dict[str, ConfigProblem]]:
    """The names of the tools, and those that only a plugin can still make good, each with its problem if none does."""
    from hookagent.config import ConfigProblem, Place
    from hookagent.tools.builtin import resolve_tools

    configured = list(loaded.config.tools)
    if not configured and not choices.tools:
        configured = list(default_tools(loaded))
    by_default = not loaded.positions.knows(("tools",))
    places = [
        (name, Place("") if by_default else loaded.positions.value(("tools", index)))
        for index, name in enumerate(configured)
    ]
    places += [(name, Place(f"-t {one_line(name, 60)}".rstrip())) for name in choices.tools]
    unknown: dict[str, ConfigProblem] = {}
    for name, place in places:
        try:
            resolve_tools([name])
        except ConfigurationError as error:
            problem = ConfigProblem.at(place, str(error))
            if _NAME_OF_A_PLUGINS_TOOL.fullmatch(name):
                unknown[name] = problem
            else:
                problems.append(problem)
    return [name for name, _ in places], unknown


def _schema_fault(tool: Tool) -> ConfigProblem | None:
    """What is wrong with the types of a tool's parameters, which a model has to be told."""
    from hookagent.config import ConfigProblem, Place

    try:
        _ = tool.parameters
    except ToolDefinitionError as error:
        return ConfigProblem.at(Place(""), str(error))
    return None


def _model(loaded: LoadedConfig, choices: Choices, problems: list[ConfigProblem]) -> Any:
    """The provider of the model that was named, or None: the environment decides when it is needed."""
    from hookagent.config import ConfigProblem, Place
    from hookagent.providers.routing import provider_for

    if choices.model is None and loaded.config.model is None:
        return None
    place = Place("-m") if choices.model is not None else loaded.positions.value(("model",))
    try:
        return provider_for(choices.model if choices.model is not None else loaded.config.model or "")
    except ConfigurationError as error:
        problems.append(ConfigProblem.at(place, str(error)))
        return None
