"""The reference pages of docs/, made from the code: what is generated cannot say anything else than the code does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "reference"
NOTICE = "<!-- Made by `python -m checks.reference --write`; change the code, not this page. -->\n\n"

_PAGES: Mapping[str, str] = {
    "cli.md": "command",
    "config.md": "configuration",
    "events.md": "events",
    "exit-codes.md": "exit_codes",
    "hook-traces.md": "hook_traces",
    "hooks.md": "hooks",
    "plugins.md": "plugins",
    "python.md": "python_api",
    "wire-rules.md": "wire_rules",
}
"""Each page and the module that makes it."""


def page_names() -> tuple[str, ...]:
    """The names of the pages, sorted."""
    return tuple(sorted(_PAGES))


def generate(name: str) -> str:
    """The text of a page. Raises KeyError for a page there is none of."""
    page: Callable[[], str] = import_module(f"{__name__}.{_PAGES[name]}").page
    return NOTICE + page().rstrip("\n") + "\n"


def stale_pages() -> list[str]:
    """The pages that are not what the code makes of them, and files that no code makes."""
    found = {path.name for path in FOLDER.glob("*")}
    stale = [name for name in page_names() if name not in found or _written(name) != generate(name)]
    return sorted([*stale, *(found - set(page_names()))])


def write_pages() -> list[str]:
    """Write the pages that are stale; return their names."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    written = []
    for name in page_names():
        text = generate(name)
        if not (FOLDER / name).exists() or _written(name) != text:
            (FOLDER / name).write_text(text, encoding="utf-8")
            written.append(name)
    return written


def _written(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
