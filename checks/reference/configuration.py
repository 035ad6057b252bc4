"""docs/reference/config.md: every key, from the pydantic models."""

from __future__ import annotations

from collections.abc import Mapping

from checks.reference.markdown import doc, table
from checks.reference.model_fields import rows
from hookagent.cli.defaults import DEFAULT_PLUGINS, DEFAULT_TOOLS
from hookagent.config.model import Config, Limits, ModelSettings, PluginEntry

_CONFIG: Mapping[str, str] = {
    "model": "`provider:model`; none: a key in the environment decides, else the embedded model",
    "model_settings": "how the model is to answer, [below](#model_settings)",
    "system_prompt": "the system text, or `{file: PATH}`, read from beside the configuration file",
    "tools": (
        "built-in sets (`files`, `shell`), single tools of them, or `module:function`; without this key the command "
        f"gives the model {', '.join(f'`{name}`' for name in DEFAULT_TOOLS)}"
    ),
    "plugins": (
        "exactly these plugins, in call order, [below](#plugins); without this key the command uses "
        + ", ".join(f"`{name}`" for name in DEFAULT_PLUGINS)
    ),
    "limits": "what ends a run, [below](#limits)",
    "tool_result_limit": "the most characters of one tool result; head and tail are kept, and the cut is announced",
    "tool_execution": "whether the calls of a round run side by side or one after the other",
}
_SETTINGS: Mapping[str, str] = {
    "max_output_tokens": "the most tokens of one reply",
    "temperature": "how freely the model chooses",
    "effort": "how long the model thinks",
    "stop": "texts that end the answer",
    "seed": "asks for repeatable answers, where the vendor knows a seed",
    "anthropic": "passed as they are to the provider `anthropic`",
    "openai": "passed as they are to the provider `openai`",
    "openai-chat": "passed as they are to the provider `openai-chat`",
}
_PLUGIN: Mapping[str, str] = {
    "use": "the plugin's entry-point name, or a dotted module",
    "with": "its options; see [the plugins](plugins.md)",
    "on_error": "softens the hooks of this plugin that only observe: `warn` reports, `disable` also switches them off",
    "time_limit": "seconds for each `async def` hook of this plugin; `null`: no limit",
}
_LIMITS: Mapping[str, str] = {
    "max_iterations": "model calls, without the one for a closing answer",
    "max_tool_calls": "calls that are started; a round that crosses it runs the first ones",
    "max_tokens": "all four counts together",
    "max_input_tokens": "tokens read, those from and for the vendor's cache among them",
    "max_output_tokens": "tokens written; the limit of a single reply is a [model setting](#model_settings)",
    "max_cost_usd": "US dollars; an error at the start where the model's price is unknown",
    "max_seconds": "seconds, not counting those in which people are asked",
    "max_equal_calls": "rounds in a row with the same calls and the same results; the model is warned before the last",
    "closing_answer": "at a limit, ask the model once more, with tools switched off, for what it has",
}


def page() -> str:
    """The text of the page."""
    head = (
        "# Configuration\n\n"
        "Read from `hookagent.yaml`, searched from the working directory upwards to the root of the repository\n"
        "or the home folder, from `[tool.hookagent]` in `pyproject.toml`, or from the file that `-c` names.\n"
        "`${NAME}` and `${NAME:-default}` stand for environment variables, in values only. Unknown keys, duplicate\n"
        "keys and wrong types are errors, each with its line and column, all of them at once (exit code 2).\n"
        "What wins, from weak to strong: defaults, the file, `-o plugins=…`, `HOOKAGENT_PLUGINS`, `-p`, every other\n"
        "`-o` in the order given.\n"
    )
    sections = [
        ("## Top level", _first(Config), table(_HEAD, rows(Config, _CONFIG))),
        ("## model_settings", _first(ModelSettings), table(_HEAD, rows(ModelSettings, _SETTINGS))),
        ("## plugins", f"{_first(PluginEntry)}\n{_SHORT_FORMS}", table(_HEAD, rows(PluginEntry, _PLUGIN))),
        ("## limits", f"{_first(Limits)}\n{_REACHED}", table(_HEAD, rows(Limits, _LIMITS))),
    ]
    return "\n".join([head, *("\n\n".join(section) for section in sections)])


def _first(model: type[object]) -> str:
    """The first paragraph of a model's docstring: the rest is for those who use it from Python."""
    return doc(model).partition("\n\n")[0]


_HEAD = ("key", "type", "default", "meaning")
_REACHED = (
    "`hookagent run` has an option for each, such as `--max-tokens`, which wins over the file. A run that reached one\n"
    "exits with 3; [what counts](../how-to/limit-a-run.md)."
)
_SHORT_FORMS = (
    "An entry is written in one of three ways: `tool-logging` (a name), `tool-logging: {level: debug}` (a name\n"
    "and its options), or `{use: tool-logging, with: {level: debug}, on_error: warn}`."
)
