"""The console of Windows, with a stand-in for `msvcrt`: the system itself is not tested."""

from __future__ import annotations

import asyncio
import builtins
import importlib.util
import io
import sys
import threading
from collections import deque
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import hookagent_human_approval


class Keyboard(ModuleType):
    """Keys as `msvcrt` gives them; those after `ready` are typed once the question is on the screen."""

    def __init__(self, before: str, after: str) -> None:
        super().__init__("msvcrt")
        self.keys = deque(before)
        self.after = after
        self.shown = ""

    def ready(self) -> None:
        self.keys.extend(self.after)

    def kbhit(self) -> bool:
        return bool(self.keys)

    def getwch(self) -> str:
        return self.keys.popleft()

    def putwch(self, character: str) -> None:
        self.shown += character


class Screen(io.StringIO):
    """What CONOUT$ gets; the person types when it is closed."""

    def __init__(self, keyboard: Keyboard) -> None:
        super().__init__()
        self.keyboard = keyboard

    def close(self) -> None:
        if not self.closed:
            self.keyboard.shown += self.getvalue()
            self.keyboard.ready()
        super().close()


def console(monkeypatch: pytest.MonkeyPatch, keyboard: Keyboard, *, there: bool = True) -> Any:
    """What `open_console` gives where Windows loads the module."""
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setitem(sys.modules, "msvcrt", keyboard)
    file = Path(hookagent_human_approval.__file__).with_name("windows_console.py")
    spec = importlib.util.spec_from_file_location("console_on_windows", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.undo()  # asyncio must not take this system for another one
    real_open = builtins.open

    def opened(name: Any, mode: str = "r", **options: Any) -> Any:
        if name not in ("CONIN$", "CONOUT$"):
            return real_open(name, mode, **options)
        if not there:
            raise OSError(6, "the handle is invalid")
        return Screen(keyboard) if mode == "w" else io.BytesIO()

    module.open = opened  # type: ignore[attr-defined]
    return module.open_console()


def ask(monkeypatch: pytest.MonkeyPatch, after: str, before: str = "") -> tuple[str | None, str]:
    keyboard = Keyboard(before, after)
    opened = console(monkeypatch, keyboard)
    return asyncio.run(opened.ask("sure? ")), keyboard.shown


@pytest.mark.parametrize(
    ("typed", "line", "shown"),
    [
        ("yes\r", "yes", "sure? yes\n"),
        ("\r", "", "sure? \n"),
        ("nox\b\b\bY\r", "Y", "sure? nox\b \b\b \b\b \bY\n"),
        ("\b\by\r", "y", "sure? y\n"),
        ("\x00Ha\xe0Kb\r", "ab", "sure? ab\n"),
        ("\ud83d\ude00\r", "\N{GRINNING FACE}", "sure? \ud83d\ude00\n"),
        ("ye\x03", None, "sure? ye"),
        ("\x1a", None, "sure? "),
    ],
)
def test_a_line_is_read_key_by_key(typed: str, line: str | None, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask(monkeypatch, typed) == (line, shown)


def test_what_was_typed_before_the_question_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask(monkeypatch, "n\r", before="y\ry\r") == ("n", "sure? n\n")


def test_without_a_console_nobody_can_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert console(monkeypatch, Keyboard("", ""), there=False) is None


def test_a_question_that_is_given_up_leaves_the_keys_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    keyboard = Keyboard("", "y")
    opened = console(monkeypatch, keyboard)

    async def main() -> None:
        task = asyncio.ensure_future(opened.ask("sure? "))
        while keyboard.shown != "sure? y":
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    for thread in threading.enumerate():
        if thread.name == "hookagent-human-approval":
            thread.join(60)
    keyboard.keys.extend("es\r")
    assert list(keyboard.keys) == ["e", "s", "\r"]
