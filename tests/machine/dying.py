"""A process that dies at a chosen write of its session, without a process that really dies.

From that write on nothing more of it reaches the disk, and nothing that still goes on in it counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hookagent.sessions.writer import Entry, SessionWriter
from tests.machine.world import Mark, World


class Dying:
    """Lets a world die: `arm` says with which write from now on, and whether that one is still made.

    Once it is dead, its writes are passed over until `disarm`.
    """

    def __init__(self) -> None:
        self._insert = SessionWriter._insert
        self._world: World | None = None
        self._left = 0
        self._made = False
        self._die: Callable[[], object] = bool

    def arm(self, world: World, crash: tuple[int, bool] | None, die: Callable[[], object]) -> None:
        """`die` is called when it is over, in the middle of the write; without a `crash` it never is."""
        if crash is None:
            return
        self._world, self._die = world, die
        self._left, self._made = crash
        dying = self

        def watched(writer: SessionWriter, entries: Sequence[Entry]) -> None:
            dying.write(writer, entries)

        SessionWriter._insert = watched  # type: ignore[method-assign, assignment]

    def disarm(self) -> None:
        """Nobody dies any more."""
        SessionWriter._insert = self._insert  # type: ignore[method-assign]
        self._world = None

    def write(self, writer: SessionWriter, entries: Sequence[Entry]) -> None:
        """Write, or die."""
        world = self._world
        if world is not None and world.dead:
            return
        self._left -= 1
        dies = world is not None and not self._left
        if not dies or self._made:
            self._insert(writer, entries)
        if dies and world is not None:
            world.note(Mark("dead"))
            world.dead = True
            self._die()


DYING = Dying()
