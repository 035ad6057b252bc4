"""Hold every import of the project to its floor: imports run downwards only.

    python -m checks.floors [ROOT]

The tables below are the rooms of the design, as data. Imports under `if TYPE_CHECKING:` are free, because they never
run. The window `hookagent/__init__.py` may name everything; that it loads nothing early is proved by a test of what
`import hookagent` leaves in `sys.modules`.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from checks.house import house_problems, house_warnings
from checks.imports import Import, Module, read_tree

ROOT = Path(__file__).resolve().parent.parent

# From the ground up. Rooms on one floor do not know each other; a room imports itself and every floor below.
FLOORS: tuple[dict[str, tuple[str, ...]], ...] = (
    {
        "values": (
            "counting",
            "errors",
            "escaping",
            "events",
            "frozen",
            "limits",
            "masking",
            "messages",
            "nested_event",
            "pending",
            "quick_values",
            "requests",
            "result",
            "trace",
            "transcript",
            "usage",
            "verdicts",
        )
    },
    {
        "contract": ("contract", "hookspecs", "markers"),
        "run": ("abort", "clock", "emitter", "interrupts", "session", "supervise", "terminal", "watch", "work"),
    },
    {"discovery": ("discovery",), "tools": ("tools",)},
    {
        "host": ("around", "around_layer", "dispatch", "host", "implementations", "registering", "validation"),
        "providers": ("providers",),
        "config": ("config",),
    },
    {"loop": ("loop",)},
    {
        "box": (
            "agent",
            "assembly",
            "console",
            "keeping",
            "nesting",
            "session_box",
            "completion",
            "private_loop",
            "prompts",
            "readings",
            "queues",
            "running",
            "streaming",
            "session_end",
            "sessions",
        )
    },
    {"cli": ("cli", "__main__")},
)
# Beside the floors: the public test kit, which meets the core as a plugin author does.
KIT = "testing"
# What the kit may import of the core, besides its own modules: the public windows, never a module behind them.
PUBLIC_WINDOWS = frozenset({"hookagent", "hookagent.config", "hookagent.providers", "hookagent.tools"})

# Third-party modules the core may import at all, and where; an empty set means anywhere above the values.
# httpx2 comes with the two SDKs, pydantic_core and typing_extensions come with pydantic, which need them by design.
THIRD_PARTY: dict[str, frozenset[str]] = {
    "anthropic": frozenset({"providers"}),
    "click": frozenset({"cli"}),
    "docstring_parser": frozenset({"tools"}),
    "genai_prices": frozenset(),
    "httpx2": frozenset({"providers"}),
    "openai": frozenset({"providers"}),
    "platformdirs": frozenset(),
    "pluggy": frozenset({"host", "markers"}),
    "prompt_toolkit": frozenset({"cli"}),
    "pydantic": frozenset(),
    "pydantic_core": frozenset(),
    "typing_extensions": frozenset({"tools"}),
    "yaml": frozenset(),
}
KIT_THIRD_PARTY = frozenset({"hypothesis", "pytest"})
# The loop reads, writes and starts nothing: it says what happens, and others keep it.
LOOP_FORBIDDEN = frozenset(
    {
        *("ftplib", "http", "io", "logging", "mmap", "multiprocessing", "os", "pathlib", "select", "selectors"),
        *("shutil", "signal", "socket", "sqlite3", "ssl", "subprocess", "sys", "tempfile", "threading", "urllib"),
    }
)
# The top modules of a plugin folder that are its tests; all others are the plugin.
PLUGIN_TESTS = frozenset({"conftest", "tests"})
LOOP_FORBIDDEN_CALLS = frozenset({"breakpoint", "input", "open", "print"})

Problem = tuple[Path, int, str]
Rule = Callable[[Module], Iterator[Problem]]


def room_of(name: str) -> tuple[int, str, str]:
    """Return floor, room and top module of a module of the core; the floor is -1 for the kit and for a homeless one."""
    top = name.split(".")[1]
    for floor, rooms in enumerate(FLOORS):
        for room, tops in rooms.items():
            if top in tops:
                return floor, room, top
    return -1, KIT if top == KIT else "", top


def floor_problems(module: Module) -> Iterator[Problem]:
    """Yield what one module of the core imports of the core, although it lies above, beside, or behind a window."""
    if module.name == "hookagent":
        return
    floor, room, top = room_of(module.name)
    if not room:
        yield module.path, 1, f"{top!r} has no floor; give it one in the table of checks/floors.py"
        return
    for found in _running(module):
        target = _target(found)
        if target is None:
            continue
        if room == KIT:
            if target.split(".")[:2] != ["hookagent", KIT] and target not in PUBLIC_WINDOWS:
                yield module.path, found.line, f"the test kit imports {target}; take it from a public window"
            continue
        if target == "hookagent":
            # The command may use the window; below it, that would be a way round.
            if room != "cli":
                yield module.path, found.line, f"{module.name} imports the window hookagent; name the module itself"
            continue
        target_floor, target_room, target_top = room_of(target)
        if not target_room:
            yield module.path, found.line, f"{target_top!r} has no floor; give it one in the table of checks/floors.py"
        elif target_room == KIT:
            yield module.path, found.line, f"{module.name} imports the test kit {target}; the kit is for tests"
        elif target_room != room and target_floor >= floor:
            way = "upwards" if target_floor > floor else "sideways"
            yield module.path, found.line, f"{room} imports {way}: {target} is in {target_room}; move it down"


def third_party_problems(module: Module) -> Iterator[Problem]:
    """Yield imports of packages that the core may not use, or not there, and of plugins."""
    _, room, top = room_of(module.name) if "." in module.name else (-1, "window", "")
    for found in _running(module):
        root = found.module.split(".")[0]
        if root in sys.stdlib_module_names or root == "hookagent":
            continue
        if root.startswith("hookagent_"):
            yield module.path, found.line, f"the core imports the plugin {root}; plugins are found by entry point"
        elif root not in THIRD_PARTY:
            if not (room == KIT and root in KIT_THIRD_PARTY):
                yield module.path, found.line, f"{root} is no dependency of the core; declare it, or do without"
        elif room == "values":
            yield module.path, found.line, f"the values import {root}; they stand on the standard library alone"
        elif THIRD_PARTY[root] and not {room, top} & THIRD_PARTY[root]:
            where = ", ".join(sorted(THIRD_PARTY[root]))
            yield module.path, found.line, f"{root} is imported outside {where}; call what is there instead"


def loop_problems(module: Module) -> Iterator[Problem]:
    """Yield what makes the loop do input or output itself."""
    if "." not in module.name or room_of(module.name)[1] != "loop":
        return
    for found in _running(module):
        if found.module.split(".")[0] in LOOP_FORBIDDEN:
            yield module.path, found.line, f"the loop imports {found.module}; say an event, and let the box do it"
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in LOOP_FORBIDDEN_CALLS:
            yield module.path, node.lineno, f"the loop calls {node.func.id}(); say an event, and let the box do it"


def plugin_problems(module: Module) -> Iterator[Problem]:
    """Yield what a plugin, or its tests, import of ours beyond the two public windows."""
    own = module.name.split(".")[0]
    for found in _running(module):
        root = found.module.split(".")[0]
        if root == "hookagent":
            target = _target(found)
            allowed = {"hookagent", "hookagent.testing"} if own in PLUGIN_TESTS else {"hookagent"}
            if target not in allowed:
                yield module.path, found.line, f"a plugin imports {target}; take it from {' or '.join(sorted(allowed))}"
        elif root.startswith("hookagent_") and root != own and own not in PLUGIN_TESTS:
            yield module.path, found.line, f"a plugin imports another plugin, {root}; plugins do not know each other"


def problems(root: Path) -> list[Problem]:
    """Return all that is wrong under `root`, by file and line."""
    rules: tuple[Rule, ...] = (floor_problems, third_party_problems, loop_problems)
    found: list[Problem] = []
    for module in read_tree(root / "hookagent", "hookagent"):
        for rule in rules:
            found.extend(rule(module))
    for folder in sorted(root.glob("plugins/*/")):
        for module in read_tree(folder):
            found.extend(plugin_problems(module))
    found.extend(house_problems(root))
    return sorted(set(found))


def main(arguments: list[str]) -> int:
    """Print what is wrong, and return the exit code: 0 for nothing, 1 for something."""
    root = Path(arguments[0]).resolve() if arguments else ROOT
    found = problems(root)
    for path, line, text in house_warnings(root):
        print(f"{path.relative_to(root)}:{line}: warning: {text}")
    for path, line, text in found:
        print(f"{path.relative_to(root)}:{line}: {text}")
    print(f"floors: {len(found)} problems" if found else "floors: every import runs downwards")
    return 1 if found else 0


def _running(module: Module) -> Iterator[Import]:
    return (found for found in module.imports if not found.type_only)


def _target(found: Import) -> str | None:
    """Return the module of ours that an import reaches: a name taken from the window counts as the window."""
    if found.module.split(".")[0] != "hookagent":
        return None
    if found.module == "hookagent" and found.name is not None:
        known = {top for rooms in FLOORS for tops in rooms.values() for top in tops} | {KIT}
        return f"hookagent.{found.name}" if found.name in known else "hookagent"
    return found.module


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
