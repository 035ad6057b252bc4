"""The editor: the one owner of the terminal. It reads keys all the time, shows what is written above its line, and asks
for others.

This file and `keys` are the only ones that import prompt_toolkit; they are loaded when it is there and wanted.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple

from prompt_toolkit import PromptSession
from prompt_toolkit.application import in_terminal
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import Input
from prompt_toolkit.output import Output
from prompt_toolkit.styles import Style
from prompt_toolkit.utils import get_cwidth

from hookagent.cli.chat.keys import Person, bindings
from hookagent.cli.chat.screen import Screen, rows
from hookagent.cli.chat.view import MARK
from hookagent.escaping import one_line, paragraphs
from hookagent.interrupts import pass_interrupt

_ROWS_OF_TAIL = 3
_ROOM_TO_ANSWER = 8
_STYLE = Style.from_dict({"status": "fg:ansibrightblack", "queued": "fg:ansibrightblack italic"})


class _Question(NamedTuple):
    text: str
    answer: asyncio.Future[str | None]


class Editor:
    """A line editor at the terminal, and its `TerminalOwner`.

    `lines` are those of earlier chats, the oldest first; `input` and `output` are the terminal unless they are given.
    To be made in the event loop in which it will run.
    """

    def __init__(
        self, person: Person, lines: Sequence[str], *, input: Input | None = None, output: Output | None = None
    ) -> None:
        self._person = person
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()
        self._asking = asyncio.Lock()
        self._question: _Question | None = None
        self._leaving = False
        self.screen = Screen(self._on_change)
        self._session: PromptSession[None] = PromptSession(
            message=self._above,
            history=InMemoryHistory(list(lines)),
            key_bindings=bindings(self),
            style=_STYLE,
            erase_when_done=True,
            prompt_continuation=lambda width, number, wrapped: "" if wrapped else " " * len(MARK),
            input=input,
            output=output,
        )
        self._buffer = self._session.default_buffer

    # ---- for the chat ----

    async def run(self) -> None:
        """Read keys until `leave` is called."""
        printing = asyncio.ensure_future(self._print_as_it_comes())
        try:
            while not self._leaving:
                try:
                    await self._session.prompt_async(set_exception_handler=False, pre_run=self._leave_if_asked)
                except EOFError:
                    self._person.end()
                    break
        finally:
            self._leaving = True
            self._answer(None)
            printing.cancel()
            await asyncio.wait({printing})
            self._print(self.screen.take_all())

    def leave(self) -> None:
        """Let `run` end; an open question gets no answer."""
        self._leaving = True
        self._answer(None)
        self._leave_if_asked()

    @property
    def line(self) -> str:
        """What stands in the line."""
        return self._buffer.text

    def insert(self, text: str) -> None:
        """Put text before what stands in the line."""
        joined = f"{text}\n{self._buffer.text}" if self._buffer.text else text
        self._buffer.text = joined
        self._buffer.cursor_position = len(joined)

    # ---- the owner of the terminal: from any thread and loop ----

    @property
    def width(self) -> int:
        """How many columns a line has."""
        return self._session.output.get_size().columns

    def write(self, text: str) -> None:
        """See `TerminalOwner.write`."""
        self.screen.write(text if text.endswith("\n") else f"{text}\n")

    async def ask(self, prompt_text: str) -> str | None:
        """See `TerminalOwner.ask`. What stands in the line comes back when the question is over."""
        if self._leaving or self._loop.is_closed():
            return None
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._ask(prompt_text), self._loop))

    @contextlib.asynccontextmanager
    async def stand_aside(self) -> AsyncIterator[None]:
        """See `TerminalOwner.stand_aside`."""
        given: concurrent.futures.Future[None] = concurrent.futures.Future()
        back = asyncio.Event()
        aside = asyncio.run_coroutine_threadsafe(self._stand_aside(given, back), self._loop)
        try:
            await asyncio.wrap_future(given)
            yield
        finally:
            self._loop.call_soon_threadsafe(back.set)
            await asyncio.wrap_future(aside)

    # ---- inside ----

    async def _ask(self, text: str) -> str | None:
        async with self._asking:
            if self._leaving:
                return None
            above, newline, question = paragraphs(text).rpartition("\n")
            self.screen.write(above + newline)
            # What the question is about is to be seen before a key can answer it.
            await self._print_lines()
            begun = self._buffer.document
            self._buffer.reset()
            self._question = _Question(question, self._loop.create_future())
            self._session.app.invalidate()
            try:
                answer = await self._question.answer
                self.screen.write(f"{question}{answer if answer is not None else ''}\n")
                return answer
            finally:
                self._question = None
                self._buffer.reset(begun)
                self._session.app.invalidate()

    def _leave_if_asked(self) -> None:
        app = self._session.app
        if self._leaving and app.is_running and not app.is_done:
            app.exit()

    def _answer(self, answer: str | None) -> None:
        if self._question is not None and not self._question.answer.done():
            self._question.answer.set_result(answer)

    async def _stand_aside(self, given: concurrent.futures.Future[None], back: asyncio.Event) -> None:
        async with in_terminal():
            if given.set_running_or_notify_cancel():
                given.set_result(None)
                await back.wait()

    def _on_change(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: whoever still writes has nobody to read it
            self._loop.call_soon_threadsafe(self._changed.set)

    async def _print_as_it_comes(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            await self._print_lines()
            self._session.app.invalidate()

    async def _print_lines(self) -> None:
        lines = self.screen.take_lines()
        if lines:
            # Shielded, because lines that are taken must be shown, and in one piece.
            await asyncio.shield(self._print_above(lines))

    async def _print_above(self, lines: str) -> None:
        async with in_terminal():
            self._print(lines)

    def _print(self, text: str) -> None:
        output = self._session.output
        output.write(text)
        output.flush()

    def _above(self) -> StyleAndTextTuples:
        """What stands before the cursor: the reply as far as it came, the status, what is queued, the mark."""
        width = self.width
        if self._question is not None:
            return [("", "\n".join(rows(self._question.text, width - _ROOM_TO_ANSWER, get_cwidth)))]
        shown: StyleAndTextTuples = []
        # Of a long line the end, as much as does not push the rest off a small screen.
        tail = self.screen.tail[-width * _ROWS_OF_TAIL :]
        if tail:
            shown += [("", f"{row}\n") for row in rows(tail, width, get_cwidth)[-_ROWS_OF_TAIL:]]
        if status := self.screen.status_line:
            shown.append(("class:status", f"{status}\n"))
        shown += [("class:queued", f"{one_line(text, max(20, width - 2))}\n") for text in self._person.queued()]
        return [*shown, ("", MARK)]

    # ---- what the keys do ----

    def enter(self, *, follow_up: bool) -> None:
        """The line is whole: it answers the question, if there is one."""
        text = self._buffer.text
        if self._question is not None:
            self._buffer.reset()
            self._answer(text)
            return
        self._buffer.reset(append_to_history=bool(text.strip()))
        self._person.submit(text, follow_up=follow_up)

    def interrupt(self) -> None:
        """Answer the question with None, if there is one; clear the line; or, where it is empty or something is under
        way, say that Ctrl-C was pressed.
        """
        if self._question is not None:
            self._answer(None)
        elif pass_interrupt():
            pass  # another program has the terminal, and knows of it
        elif self._buffer.text and not self._person.busy():
            self._buffer.reset()
        else:
            self._person.interrupt()

    def delete_or_end(self) -> None:
        """Delete a character; in an empty line, it is the end: of the question, if there is one."""
        if self._buffer.text:
            self._buffer.delete()
        elif self._question is not None:
            self._answer(None)
        else:
            self._person.end()
