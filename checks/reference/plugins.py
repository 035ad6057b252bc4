"""docs/reference/plugins.md: the plugins that come with hookagent, from their classes and option models."""

from __future__ import annotations

from checks.reference.built_in import BuiltIn, built_in_plugins
from checks.reference.markdown import doc, table
from checks.reference.model_fields import rows


def page() -> str:
    """The text of the page."""
    head = (
        "# Plugins that come with hookagent\n\n"
        "Each is a project of its own under `plugins/`, written with nothing but the public hooks. Switch one on by\n"
        "its name in the [`plugins:` list](config.md#plugins), with `-p NAME`, or in `Agent(plugins=[...])`.\n"
    )
    return "\n".join([head, *(_section(one) for one in built_in_plugins())])


def _section(one: BuiltIn) -> str:
    hooks = ", ".join(f"[`{hook}`](hooks.md#{hook})" for hook in one.hooks)
    options = table(("option", "type", "default", "meaning"), rows(one.plugin.Options))
    return f"## {one.name}\n\n{doc(one.plugin)}\n\nHooks: {hooks}\n\n{options}"
