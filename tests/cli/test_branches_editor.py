"""The editor at its edges: a terminal that goes away, questions that nobody answers, keys that belong to others."""

from __future__ import annotations

import asyncio
import io
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from hookagent import take_interrupts
from hookagent.cli.console import Console
from tests.cli.chat_person import conversation_with, editing, until

pytest.importorskip("prompt_toolkit")

ENTER, CTRL_A, CTRL_C, CTRL_D = "\r", "\x01", "\x03", "\x04"


class Deaf:
    """A tool that heeds nothing until it is let go."""

    def __init__(self) -> None:
        self.began, self.may_end = threading.Event(), threading.Event()

    def work(self) -> str:
        """Work."""
        self.began.set()
        self.may_end.wait()
        return "worked"


CALL = {"calls": [{"name": "work"}]}


def user_texts(conversation: Any) -> list[str]:
    return [one.text for one in conversation.agent.transcript.messages() if hasattr(one, "via")]


def heard() -> tuple[Console, io.StringIO]:
    err = io.StringIO()
    return Console(None, err, {}), err


def test_a_terminal_that_goes_away_in_mid_turn_ends_the_turn_and_the_chat(tmp_path: Path) -> None:
    async def main() -> None:
        left: list[int] = []
        job = Deaf()
        conversation, history = conversation_with([CALL], tmp_path, tools=[job.work])
        async with editing(conversation, history, left.append) as person:
            person.types(f"first{ENTER}")
            await until(job.began.is_set)
            person.chat._terminal["input"].close()
            await until(lambda: person.chat._left is not None)
            job.may_end.set()
            assert await person.leaves() == 0
            assert left == []
            assert getattr(conversation.agent.last_result, "reason", None) == "the chat was left"

    asyncio.run(main())


def test_blanks_are_no_message_and_nothing_is_taken_behind_the_end(tmp_path: Path) -> None:
    async def main() -> None:
        conversation, history = conversation_with(["One."], tmp_path)
        async with editing(conversation, history) as person:
            person.types(f"  {ENTER}{ENTER}")
            person.types(f"first{ENTER}")
            await person.sees("One.\n")
            await until(lambda: not person.chat.busy())
            person.chat.end()
            person.chat.submit("too late", follow_up=False)
            assert not person.chat.busy()
            assert await person.leaves() == 0
        assert history.lines == ["first"]
        assert user_texts(conversation) == ["first"]

    asyncio.run(main())


def test_who_left_in_order_and_loses_patience_keeps_the_first_code(tmp_path: Path) -> None:
    async def main() -> None:
        left: list[int] = []
        job = Deaf()

        def leave(code: int) -> None:
            left.append(code)
            job.may_end.set()

        conversation, history = conversation_with([CALL], tmp_path, tools=[job.work])
        async with editing(conversation, history, leave) as person:
            person.types(f"first{ENTER}")
            await until(job.began.is_set)
            person.types(f"/quit{ENTER}")
            await until(lambda: person.chat._left is not None)
            person.types(CTRL_D)
            for said in ("ending the turn", "Ctrl-C again leaves at once"):
                person.types(CTRL_C)
                await person.sees(said)
            person.types(CTRL_C)
            assert await person.leaves() == 0
            assert left == [0]

    asyncio.run(main())


def test_what_comes_just_too_late_for_a_turn_is_a_turn_of_its_own(tmp_path: Path) -> None:
    async def main() -> None:
        conversation, history = conversation_with(["One.", {"text": "Two.", "expect": "late"}], tmp_path)
        turn = conversation.turn
        asked: list[str | None] = []

        def turn_and_late_message(prompt: str | None) -> bool:
            asked.append(prompt)
            completed = turn(prompt)
            if prompt is not None:
                conversation.agent.follow_up("late")
            return completed

        conversation.turn = turn_and_late_message  # type: ignore[method-assign]
        async with editing(conversation, history) as person:
            person.types(f"first{ENTER}")
            await person.sees("Two.\n")
            await until(lambda: not person.chat.busy())
            person.types(CTRL_D)
            assert await person.leaves() == 0
        assert asked == ["first", None]
        assert user_texts(conversation) == ["first", "late"]

    asyncio.run(main())


def test_a_turn_that_cannot_even_be_tried_is_said_and_the_chat_goes_on(tmp_path: Path) -> None:
    async def main() -> None:
        console, err = heard()
        conversation, history = conversation_with(["One."], tmp_path, console=console)
        turn = conversation.turn

        def fail(prompt: str | None) -> bool:
            raise RuntimeError("no threads left")

        async with editing(conversation, history) as person:
            conversation.turn = fail  # type: ignore[method-assign]
            person.types(f"first{ENTER}")
            await until(lambda: "no threads left" in err.getvalue())
            await until(lambda: not person.chat.busy())
            conversation.turn = turn  # type: ignore[method-assign]
            person.types(f"second{ENTER}")
            await until(lambda: conversation.agent.last_result is not None)
            await until(lambda: not person.chat.busy())
            person.types(CTRL_D)
            assert await person.leaves() == 0
        assert "error: internal error: RuntimeError: no threads left; '--debug' shows where\n" in err.getvalue()
        assert user_texts(conversation) == ["second"]

    asyncio.run(main())


def test_where_no_signals_can_be_listened_to_the_keys_work_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        add = loop.add_signal_handler

        def refuse(number: int, *arguments: Any) -> None:
            if number == signal.SIGTERM:
                raise NotImplementedError
            add(number, *arguments)

        monkeypatch.setattr(loop, "add_signal_handler", refuse)
        conversation, history = conversation_with(["One."], tmp_path)
        async with editing(conversation, history) as person:
            person.types(f"first{ENTER}")
            await person.sees("One.\n")
            await until(lambda: not person.chat.busy())
            person.types(CTRL_D)
            assert await person.leaves() == 0

    asyncio.run(main())


# ---- the owner of the terminal ----


def test_questions_that_are_open_when_the_chat_is_left_get_no_answer(tmp_path: Path) -> None:
    async def main() -> None:
        conversation, history = conversation_with([], tmp_path)
        async with editing(conversation, history) as person:
            editor = person.chat.editor
            asking = [asyncio.ensure_future(editor.ask(text)) for text in ("first? ", "second? ")]
            await until(lambda: editor._question is not None)
            person.chat.end()
            assert await asyncio.gather(*asking) == [None, None]
            assert await person.leaves() == 0
            assert await editor.ask("third? ") is None
            assert "second?" not in person.shown

    asyncio.run(main())


def test_who_no_longer_wants_the_terminal_does_not_get_it(tmp_path: Path) -> None:
    async def main() -> None:
        conversation, history = conversation_with(["One."], tmp_path)
        async with editing(conversation, history) as person:
            editor = person.chat.editor
            got: list[str] = []

            async def stand_aside() -> None:
                async with editor.stand_aside():
                    got.append("the terminal")

            async with editor.stand_aside():
                waiting = asyncio.ensure_future(stand_aside())
                for _ in range(5):
                    await asyncio.sleep(0)
                waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            assert got == []
            person.types(f"first{ENTER}")
            await person.sees("One.\n")

    asyncio.run(main())


def test_ctrl_c_is_another_programs_while_that_asks(tmp_path: Path) -> None:
    async def main() -> None:
        taken: list[str] = []
        conversation, history = conversation_with([], tmp_path)
        async with editing(conversation, history) as person:
            person.types("text")
            await until(lambda: person.line == "text")
            with take_interrupts(lambda: taken.append("interrupt")):
                person.types(CTRL_C)
                await until(lambda: taken)
            # Neither the line nor the chat is meant; Ctrl-D takes away one character, as in any editor.
            assert person.line == "text"
            person.types(f"{CTRL_A}{CTRL_D}")
            await until(lambda: person.line == "ext")
            person.types(CTRL_C)
            await until(lambda: person.line == "")
            person.types(CTRL_D)
            assert await person.leaves() == 0
        assert taken == ["interrupt"]

    asyncio.run(main())
