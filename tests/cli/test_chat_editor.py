"""The chat behind its editor: what is typed while the agent works, and Ctrl-C."""

from __future__ import annotations

import asyncio
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from hookagent import ToolContext
from tests.cli.chat_person import conversation_with, editing, until

pytest.importorskip("prompt_toolkit")

ENTER, ALT_ENTER, CTRL_C, CTRL_D = "\r", "\x1b\r", "\x03", "\x04"
CALL = {"calls": [{"name": "work"}]}


class Work:
    """A tool that works until it is let go, or aborted."""

    def __init__(self) -> None:
        self.began = threading.Event()
        self.may_end = threading.Event()

    def work(self, context: ToolContext) -> str:
        """Work."""
        context.abort.on_abort(self.may_end.set)
        self.began.set()
        self.may_end.wait()
        return "worked"


@pytest.fixture
def job() -> Work:
    return Work()


def user_texts(conversation: Any) -> list[str]:
    return [one.text for one in conversation.agent.transcript.messages() if hasattr(one, "via")]


def test_two_turns_and_a_command(tmp_path: Path) -> None:
    async def main() -> None:
        conversation, history = conversation_with(["One.", "Two."], tmp_path)
        async with editing(conversation, history) as person:
            person.types(f"first{ENTER}")
            await person.sees("One.\n")
            await until(lambda: not person.chat.busy())
            person.types(f"/cost{ENTER}")
            await person.sees("1 turn: ")
            person.types(f"second{ENTER}")
            await person.sees("> second\n")
            await person.sees("Two.\n")
            person.types(CTRL_D)
            assert await person.leaves() == 0
            assert history.lines == ["first", "/cost", "second"]

    asyncio.run(main())


def test_enter_steers_and_the_other_keys_wait_for_the_end(tmp_path: Path, job: Work) -> None:
    async def main() -> None:
        replies = [CALL, {"text": "Steered.", "expect": "hurry"}, {"text": "Later.", "expect": "and then"}, "Last."]
        conversation, history = conversation_with(replies, tmp_path, tools=[job.work])
        agent = conversation.agent
        async with editing(conversation, history) as person:
            person.types(f"first{ENTER}")
            await until(job.began.is_set)
            person.types(f"hurry{ENTER}")
            await until(lambda: len(agent.steering) == 1)
            person.types(f"and then{ALT_ENTER}")
            await until(lambda: len(agent.follow_ups) == 1)
            person.types(f"> and last{ENTER}")
            await until(lambda: len(agent.follow_ups) == 2)
            assert person.chat.queued() == ["> hurry", "> > and then", "> > and last"]
            job.may_end.set()
            await person.sees("Last.\n")
            await until(lambda: not person.chat.busy())
            assert user_texts(conversation) == ["first", "hurry", "and then", "and last"]
            # What was queued is shown where it went in.
            texts = ["> first\n", "> hurry\n", "Steered.\n", "> and then\n", "Later.\n", "> and last\n", "Last.\n"]
            places = [person.shown.rindex(text) for text in texts]
            assert places == sorted(places)
            person.types(f"/quit{ENTER}")
            assert await person.leaves() == 0

    asyncio.run(main())


def test_ctrl_c_stops_the_turn_and_gives_back_what_was_queued(tmp_path: Path, job: Work) -> None:
    async def main() -> None:
        conversation, history = conversation_with([CALL, "Still here."], tmp_path, tools=[job.work])
        async with editing(conversation, history) as person:
            person.types(f"first{ENTER}")
            await until(job.began.is_set)
            person.types(f"one{ENTER}")
            person.types(f"two{ALT_ENTER}")
            person.types("thr")
            await until(lambda: person.line == "thr")
            person.types(CTRL_C)
            await until(lambda: not person.chat.busy())
            await person.sees("hookagent: interrupted; ending the turn\n")
            assert person.line == "one\ntwo\nthr"
            assert conversation.agent.steering.peek() == conversation.agent.follow_ups.peek() == ()
            person.types(CTRL_C)
            await until(lambda: person.line == "")
            person.types(f"again{ENTER}")
            await person.sees("Still here.\n")
            await until(lambda: not person.chat.busy())
            person.types(CTRL_D)
            assert await person.leaves() == 0

    asyncio.run(main())


def test_ctrl_c_as_quick_as_the_turn_is_not_lost(tmp_path: Path) -> None:
    async def main() -> None:
        conversation, history = conversation_with(["One."], tmp_path)
        async with editing(conversation, history) as person:
            person.chat.submit("first", follow_up=False)
            person.chat.interrupt()
            await until(lambda: not person.chat.busy())
            assert conversation.agent.last_result is not None
            assert conversation.agent.last_result.status == "aborted"

    asyncio.run(main())


@pytest.mark.parametrize(
    ("keys", "code"),
    [([CTRL_C, CTRL_C], 130), ([CTRL_C, CTRL_D], 0), ([CTRL_D], 0), (["some text", CTRL_C, CTRL_D], 0)],
)
def test_leaving_at_the_prompt(keys: list[str], code: int, tmp_path: Path) -> None:
    async def main() -> None:
        conversation, history = conversation_with([], tmp_path)
        async with editing(conversation, history) as person:
            for key in keys:
                person.types(key)
            assert await person.leaves() == code

    asyncio.run(main())


def test_leaving_in_mid_turn_ends_it_first(tmp_path: Path, job: Work) -> None:
    async def main() -> None:
        left: list[int] = []
        conversation, history = conversation_with([CALL], tmp_path, tools=[job.work])
        async with editing(conversation, history, left.append) as person:
            person.types(f"first{ENTER}")
            await until(job.began.is_set)
            person.types(f"/quit{ENTER}")
            assert await person.leaves() == 0
            assert (left, conversation.agent.status) == ([], "idle")
            assert conversation.agent.last_result is not None
            assert conversation.agent.last_result.reason == "the chat was left"

    asyncio.run(main())


def test_the_third_ctrl_c_in_a_turn_leaves_at_once(tmp_path: Path) -> None:
    async def main() -> None:
        left: list[int] = []
        began, may_end = threading.Event(), threading.Event()

        def deaf() -> str:
            """Heed nothing."""
            began.set()
            may_end.wait()
            return "done"

        def leave(code: int) -> None:
            left.append(code)
            may_end.set()

        conversation, history = conversation_with([{"calls": [{"name": "deaf"}]}], tmp_path, tools=[deaf])
        async with editing(conversation, history, leave) as person:
            person.types(f"first{ENTER}")
            await until(began.is_set)
            for said in ("ending the turn", "Ctrl-C again leaves at once"):
                person.types(CTRL_C)
                await person.sees(said)
            assert left == []
            person.types(CTRL_C)
            assert await person.leaves() == 130
            assert left == [130]

    asyncio.run(main())


def test_what_a_tool_prints_stands_above_the_line(tmp_path: Path) -> None:
    def loud() -> str:
        """Print."""
        print("\x1b[2Jfrom a tool")
        print("and a warning", file=sys.stderr)
        return "printed"

    async def main() -> None:
        conversation, history = conversation_with([{"calls": [{"name": "loud"}]}, "Done."], tmp_path, tools=[loud])
        async with editing(conversation, history) as person:
            person.types(f"first{ENTER}")
            await person.sees("\\x1b[2Jfrom a tool\n")
            await person.sees("and a warning\n")
            await person.sees("Done.\n")

    asyncio.run(main())
