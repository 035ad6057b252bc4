"""A seeded fault: one real mistake, as a change of one place of the product."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[3]
"""The checkout that the patches are made for."""

CONTEXT_WINDOW = "plugins/hookagent-context-window/hookagent_context_window"


class Fault(NamedTuple):
    """A fault: `name` is "<area>-<what>", `says` what it breaks, `old` stands once in `path` and becomes `new`."""

    name: str
    says: str
    path: str
    old: str
    new: str

    @property
    def area(self) -> str:
        """The part of the product that it is in."""
        return self.name.partition("-")[0]

    def seeded(self, text: str) -> str:
        """The text of its file with the fault in it.

        Raises ValueError when its place is not there exactly once.
        """
        found = text.count(self.old)
        if found != 1:
            raise ValueError(f"{self.name}: what it changes stands {found} times in {self.path}; adapt the fault to it")
        return text.replace(self.old, self.new)
