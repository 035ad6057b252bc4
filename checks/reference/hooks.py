"""docs/reference/hooks.md: from the docstrings of the hookspecs and the contract table."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping

from checks.reference.built_in import built_in_plugins
from checks.reference.markdown import code, linked, signature, table
from hookagent import hookspecs
from hookagent.contract import CONTRACTS, RENAMED, Contract, allowed
from hookagent.implementations import DEFAULT_TIME_LIMIT

_PART = re.compile(r"^(Fires|Returns|Order|Owns|Since): ", re.MULTILINE)
_FORMS: Mapping[str, str] = {
    "either": "`def` or `async def`",
    "plain": "`def` only",
    "async": "`async def` only",
}
KINDS: Mapping[str, tuple[str, str]] = {
    "register": ("add tools", "the agent is not built: an error that names the plugin (the command: exit 2)"),
    "observe": (
        "look",
        "the run stops with a `PluginError`; `on_error: warn` or `disable` softens this for hooks that only observe",
    ),
    "contribute": ("return messages to add", "the run stops with a `PluginError`; nothing is half added"),
    "transform": ("return a changed value", "the run stops with a `PluginError`; the value from before stays"),
    "decide": (
        "return a verdict",
        "it fails closed: the call does not run, its result says which gate failed, and the run stops",
    ),
    "around": (
        "call `call_next` none, one or several times",
        "as what it wraps: the call fails closed, or the run stops",
    ),
}
"""What a hook of each kind may do, and what happens when it raises, overruns its limit or returns the wrong thing."""


def page() -> str:
    """The text of the page."""
    parts = [_head(), "## All hooks\n", _overview(), "## Kinds and failure rules\n", _kinds()]
    for name in CONTRACTS:
        parts.append(_section(name))
    parts += ["## Names that other projects use\n", _renamed()]
    return "\n".join(parts)


def _head() -> str:
    return (
        "# Hooks\n\n"
        "A plugin implements any of these, each marked with `@hookimpl`, and names only the arguments that it wants.\n"
        "Every hook but `register_tools` may also name `agent` and `session`; `register_tools` is called before there\n"
        "is a session.\n"
        "A *message* is a `str`, a `UserMessage` or a list of them. Hooks are called in the order of the plugin list\n"
        "(one marked `@hookimpl(tryfirst=True)` or `trylast=True` before or behind all others);\n"
        f"`wrap_…` hooks nest, the first plugin outermost. An `async def` hook has {DEFAULT_TIME_LIMIT:g} seconds\n"
        "unless the plugin's attribute `time_limit`, or that of its entry in the list, says otherwise.\n"
        "Why all this is so: [the design](../explanation/design.md#hooks).\n"
    )


def _overview() -> str:
    rows = (
        (f"[`{name}`](#{name})", ", ".join(contract.kinds), _FORMS[contract.form], _returns(contract))
        for name, contract in CONTRACTS.items()
    )
    return table(("hook", "kind", "form", "may return"), rows)


def _kinds() -> str:
    rows = ((kind, *KINDS[kind]) for kind in KINDS)
    return (
        table(("kind", "what it may do", "when it raises, overruns its limit, or returns the wrong thing"), rows)
        + "\nA hook of several kinds follows the strictest rule: decide > transform = contribute > observe.\n"
    )


def _section(name: str) -> str:
    contract = CONTRACTS[name]
    function = getattr(hookspecs, name)
    what, parts = read_docstring(inspect.cleandoc(function.__doc__ or ""))
    word = "async def " if contract.form == "async" else "def "
    lines = [f"## {name}\n", f"{what}\n", code(word + signature(name, function))]
    lines += [f"- **{label}:** {_sentence(parts[label])}" for label in ("Fires", "Returns", "Order", "Owns")]
    lines.append(f"- **Kind:** {', '.join(contract.kinds)}. **Form:** {_FORMS[contract.form]}.{_extra(contract)}")
    lines.append(f"- **Since:** {parts['Since']}")
    users = [plugin.name for plugin in built_in_plugins() if name in plugin.hooks]
    if users:
        links = ", ".join(f"[`{user}`](plugins.md#{user})" for user in users)
        lines.append(f"- **Used by:** {links}")
    return "\n".join(lines) + "\n"


def read_docstring(text: str) -> tuple[str, dict[str, str]]:
    """A hookspec's docstring as what it is for and its five parts. Raises ValueError when one is missing."""
    head, *rest = _PART.split(text)
    parts = {label: " ".join(body.split()) for label, body in zip(rest[::2], rest[1::2], strict=True)}
    missing = {"Fires", "Returns", "Order", "Owns", "Since"} - set(parts)
    if missing:
        raise ValueError(f"{text.splitlines()[0]!r}: the docstring lacks {', '.join(sorted(missing))}")
    return head.strip(), parts


def _extra(contract: Contract) -> str:
    if contract.open_round:
        return " Calls wait for results here: a message is a `MessageOrderError`."
    return " `on_error: warn` and `disable` soften it." if contract.softened else ""


def _returns(contract: Contract) -> str:
    return "nothing" if contract.kinds == ("register",) else linked(allowed(contract))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _renamed() -> str:
    return "An implementation under one of these names is refused, with a pointer to the name it has here.\n\n" + table(
        ("name", "here"), ((f"`{old}`", f"[`{new}`](#{new})") for old, new in RENAMED.items())
    )
