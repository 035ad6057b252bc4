"""docs/reference/hook-traces.md: from the table of scenarios and its golden files, which the tests hold the loop to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from checks.reference.markdown import anchor, code, linked
from tests.golden.files import Golden, read
from tests.golden.interruptions import REACHING_ALL
from tests.golden.stage import Mode, Scenario
from tests.golden.table import MODES, SCENARIOS

_FAMILIES: Mapping[str, str] = {
    "Rounds": "What a model may ask for, and how it may answer.",
    "Gates": "What plugins and people may say about calls, and where a plugin may stop a run.",
    "Turns": "Prompts and queues, the window, and a model that fails.",
    "Limits": "Each limit by its name, checked before each model call.",
    "Aborts": (
        f"An abort in each hook, in the model and in a tool. Those in hooks begin like [{REACHING_ALL.title.lower()}]"
        f"(#{anchor(REACHING_ALL.title)}); the lines that are the same are left out."
    ),
    "Failing hooks": "A plugin that raises, hook by hook. Here too the beginning is left out where it is the same.",
}
"""Each family of scenarios, in order, and what it is about."""
_HEAD = """\
# Hook traces

Which hooks fire, which events are told, and which messages are stored: on every path, exactly, in order. A test
plays each scenario streaming and not, with `run_sync`, `run` and `stream`, with hooks written with `def` and with
`async def`, and each time compares every line. Nothing of this makes a difference to a trace; where parallel and
sequential rounds differ, both are shown. What each hook may do is told in [hooks](hooks.md), what an event says in
[events](events.md), and why it is so in [the design](../explanation/design.md#hooks).

How to read a trace:

- `before_llm 1` is a hook, called on a plugin named *witness* that implements them all, with the most important of
  its arguments. `/wrap_tool_call c1 ok` is the end of that hook, and what it gave back.
- `[tool_start c1]` is an event. Events stand behind the hook that came before them.
- `~[message_delta text]` comes only when the model streams.
- `> agent.abort()` is what somebody does from outside, `< completed` how that call ended: with the status of the
  run, or with what it raised.
- `c1`, `c2` are calls; `c1(n=2)` shows arguments.
- A second plugin, *actor*, stands behind the witness in the list and does what the scenario says; that it returned
  something is an event, `[hook actor before_llm returned Stop]`.
- What is inside of an agent's run, a turn or an iteration stands further to the right.
- `…` stands for the lines with which the trace begins like the one named above.

Around each scenario stand `register_tools`, when the agent is made, and `on_session_end`, when it is closed; they
are shown where something happens in them.

All traces are in balance. Each `before_…` has its `after_…`; or, where the thing itself failed, `on_error`; or,
where the run was stopped or aborted in between, `on_complete` with that outcome.
"""
_SHOWN_BEFORE = 2
"""How many lines are shown of those that a trace begins with like the one it is compared with."""


def page() -> str:
    """The text of the page."""
    parts = [_HEAD, _contents()]
    for family, scenarios in groupby(SCENARIOS, lambda scenario: scenario.family):
        parts += [f"## {family}\n", f"{_FAMILIES[family]}\n"]
        parts += [_section(scenario) for scenario in scenarios]
    return "\n".join(parts)


def _contents() -> str:
    lines = []
    for family, scenarios in groupby(SCENARIOS, lambda scenario: scenario.family):
        links = [f"[{scenario.title}](#{anchor(scenario.title)})" for scenario in scenarios]
        lines.append(f"- [{family}](#{anchor(family)}): {' · '.join(links)}")
    return "\n".join(lines) + "\n"


def _section(scenario: Scenario) -> str:
    goldens = read(scenario)
    parts = [f"### {scenario.title}\n", f"{linked(scenario.happens)}\n"]
    alike = goldens["parallel"] == goldens["sequential"]
    for mode in MODES[:1] if alike else MODES:
        parts += [] if alike else [f"In a {mode} round:\n"]
        parts.append(code("\n".join(_lines(scenario, mode, goldens[mode])), "text"))
    messages = {golden.messages for golden in goldens.values()}
    for mode in MODES[:1] if len(messages) == 1 else MODES:
        if goldens[mode].messages:
            parts.append(f"Messages{'' if len(messages) == 1 else f', {mode}'}:\n")
            parts.append(code(goldens[mode].messages.rstrip("\n"), "text"))
    return "\n".join(parts)


def _lines(scenario: Scenario, mode: Mode, golden: Golden) -> list[str]:
    lines = _without_frame(golden.sequence.splitlines())
    if scenario.family not in ("Aborts", "Failing hooks"):
        return lines
    known = _without_frame(read(REACHING_ALL)[mode].sequence.splitlines())
    same = next((i for i, (one, other) in enumerate(zip(lines, known, strict=False)) if one != other), len(known))
    left_out = max(0, same - _SHOWN_BEFORE)
    return [*(["…"] if left_out else []), *lines[left_out:]]


def _without_frame(lines: Sequence[str]) -> list[str]:
    """The lines without the making and the closing of the agent, where nothing happens in them."""
    kept = list(lines)
    if kept[:2] == ["> Agent(...)", "register_tools"] and len(kept) > 2 and kept[2].startswith("> "):
        del kept[:2]
    if kept[-2:] == ["> agent.close()", "on_session_end"]:
        del kept[-2:]
    return kept
