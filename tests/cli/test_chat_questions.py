"""Questions of others at the chat's editor, and other programs at its terminal."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hookagent import hookimpl, terminal_owner
from tests.cli.chat_person import conversation_with, editing, until

pytest.importorskip("prompt_toolkit")

ENTER, CTRL_C, CTRL_D = "\r", "\x03", "\x04"


class Asks:
    """A plugin with a question."""

    name = "asks"

    def __init__(self) -> None:
        self.answers: list[str | None] = []

    @hookimpl
    async def before_llm(self, iteration: int) -> None:
        owner = terminal_owner()
        assert owner is not None
        owner.write("about this:")
        self.answers.append(await owner.ask("first line\nwhich? "))


def test_a_question_puts_the_line_aside_and_brings_it_back(tmp_path: Path) -> None:
    async def main() -> None:
        asks = Asks()
        conversation, history = conversation_with(["Done."], tmp_path, plugins=[asks])
        async with editing(conversation, history) as person:
            person.types(f"first{ENTER}")
            await person.sees("about this:\n")
            await person.sees("first line\n")
            await until(lambda: person.line == "" and "which?" in person.shown)
            person.types(f"this one{ENTER}")
            await person.sees("which? this one\n")
            await person.sees("Done.\n")
            assert asks.answers == ["this one"]
            assert history.lines == ["first"]
        assert terminal_owner() is None

    asyncio.run(main())


def test_what_was_begun_before_a_question_is_no_answer(tmp_path: Path) -> None:
    async def main() -> None:
        conversation, history = conversation_with([], tmp_path)
        async with editing(conversation, history) as person:
            person.types("yes")
            await until(lambda: person.line == "yes")
            question = asyncio.ensure_future(person.chat.editor.ask("sure? "))
            await until(lambda: person.line == "")
            person.types(f"no{ENTER}")
            assert await question == "no"
            assert person.line == "yes"

    asyncio.run(main())


@pytest.mark.parametrize("key", [CTRL_C, CTRL_D])
def test_no_answer_is_none(key: str, tmp_path: Path) -> None:
    async def main() -> None:
        asks = Asks()
        conversation, history = conversation_with(["Done."], tmp_path, plugins=[asks])
        async with editing(conversation, history) as person:
            person.types(f"first{ENTER}")
            await person.sees("which?")
            person.types(key)
            await until(lambda: not person.chat.busy())
            assert asks.answers == [None]
            result = conversation.agent.last_result
            assert result is not None
            assert result.status == "completed"

    asyncio.run(main())


def test_a_question_that_is_given_up_leaves_the_line_as_it_was(tmp_path: Path) -> None:
    async def main() -> None:
        conversation, history = conversation_with([], tmp_path)
        async with editing(conversation, history) as person:
            person.types("begun")
            await until(lambda: person.line == "begun")
            question = asyncio.ensure_future(person.chat.editor.ask("sure? "))
            await until(lambda: person.line == "")
            question.cancel()
            await until(lambda: person.line == "begun")
            assert question.cancelled()

    asyncio.run(main())


def test_questions_come_one_after_the_other_and_none_after_the_end(tmp_path: Path) -> None:
    async def main() -> None:
        conversation, history = conversation_with([], tmp_path)
        async with editing(conversation, history) as person:
            editor = person.chat.editor
            questions = [asyncio.ensure_future(editor.ask(f"{number}? ")) for number in range(3)]
            for number in range(2):
                await person.sees(f"{number}?")
                person.types(f"answer {number}{ENTER}")
                assert await questions[number] == f"answer {number}"
            await person.sees("2?")
            editor.leave()
            assert await questions[2] is None
            assert await editor.ask("late? ") is None

    asyncio.run(main())


def test_another_program_gets_the_terminal_from_another_loop(tmp_path: Path) -> None:
    async def main() -> None:
        conversation, history = conversation_with([], tmp_path)
        async with editing(conversation, history) as person:
            editor = person.chat.editor
            seen: list[bool] = []

            async def borrow() -> None:
                async with editor.stand_aside():
                    editor.write("written meanwhile")
                    seen.append("written meanwhile" in person.shown)

            await asyncio.to_thread(asyncio.run, borrow())
            await person.sees("written meanwhile\n")
            assert seen == [False]

    asyncio.run(main())


def test_a_long_question_and_a_growing_line_are_shown_whole(tmp_path: Path) -> None:
    async def main() -> None:
        conversation, history = conversation_with([], tmp_path)
        async with editing(conversation, history) as person:
            editor = person.chat.editor
            editor.screen.write("growing " * 5)
            editor.screen.status("iteration 1")
            await person.sees("growing growing")
            await person.sees("iteration 1")
            question = asyncio.ensure_future(editor.ask(f"{'long ' * 30}end? "))
            await person.sees("end?")
            person.types(ENTER)
            assert await question == ""

    asyncio.run(main())
