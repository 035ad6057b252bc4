"""The command's rarer ways: what fails where it can hardly fail, and what is hardly ever there to be shown."""

from __future__ import annotations

import errno
import io
import logging
import time
from pathlib import Path
from typing import Any

import click
import pytest

from hookagent import Agent, Image, UserMessage
from hookagent.cli.answer import Answer
from hookagent.cli.chat.commands import obey
from hookagent.cli.chat.conversation import Conversation, Wishes
from hookagent.cli.chat.export import export_transcript
from hookagent.cli.chat.history import FILE_NAME, History
from hookagent.cli.chat.pipe import work_through
from hookagent.cli.chat.signals import ChatSignals
from hookagent.cli.chat.view import View
from hookagent.cli.console import Console
from hookagent.cli.failure import UsageProblem, problems_of, run_guarded
from hookagent.cli.logs import logging_to
from hookagent.cli.progress import Progress
from hookagent.cli.session_text import moment, session_text
from hookagent.cli.task import read_task
from hookagent.console import Console as PlainConsole
from hookagent.events import MessageDelta, MessageReplaced, MessageStart, ToolProgress, TurnEnd
from hookagent.limits import Limits
from hookagent.messages import AssistantMessage, TextPart, ToolCall
from hookagent.providers.scripted import ScriptedProvider
from hookagent.session import SessionState
from hookagent.sessions.lineage import Row
from hookagent.sessions.restore import QueuedMessage, Restored
from hookagent.usage import NO_USAGE

AT = (1, 0.0, 1, 1)
"""The number, seconds, turn and iteration of an event, where they do not matter."""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Failing(io.StringIO):
    """A stream that cannot be read or written, for this reason."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def readline(self, *_: Any) -> Any:
        raise self.error

    def read(self, *_: Any) -> Any:
        raise self.error

    def write(self, _: str) -> int:
        raise self.error


def no_room() -> OSError:
    return OSError(errno.ENOSPC, "No space left on device")


def console_of(out: io.StringIO | None = None) -> tuple[Console, io.StringIO]:
    err = io.StringIO()
    return Console(out, err, {}), err


def chat_with(script: list[Any], console: Console, *, verbose: bool = False, live: bool = False) -> Conversation:
    agent = Agent(model=ScriptedProvider(script), quiet=True, log=False)
    return Conversation(console, agent, View(console, live=live, calls=True), Wishes(verbose=verbose))


# ---- failures ----


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (no_room(), "standard output cannot be written: no space left on device; free some, and run it again"),
        (OSError(errno.EIO, "Input/output error", "notes.txt"), "notes.txt: input/output error"),
        (OSError("odd"), "odd"),
        (KeyboardInterrupt(), "interrupted"),
    ],
)
def test_an_error_of_the_system_is_one_problem(error: BaseException, problem: str) -> None:
    assert problems_of(error) == [problem]


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (KeyboardInterrupt(), 130, "\nhookagent: interrupted\n"),
        (click.Abort(), 130, "hookagent: interrupted\n"),
        (SystemExit(5), 5, ""),
        (SystemExit("text"), 1, ""),
    ],
)
def test_whatever_a_command_raises_becomes_a_code(
    raised: BaseException, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    @click.command()
    def fails() -> None:
        raise raised

    assert run_guarded(fails, []) == code
    assert capsys.readouterr().err == said


def test_the_reason_why_a_pipe_cannot_be_read_is_said() -> None:
    console, _ = console_of()
    broken = Failing(OSError(errno.EIO, "Input/output error"))
    with pytest.raises(UsageProblem, match=r"^standard input: cannot be read: input/output error$"):
        read_task("-", console, broken)
    with pytest.raises(UsageProblem, match=r"^standard input: cannot be read: input/output error$"):
        work_through(chat_with([], console), broken, signals_of(console))


def test_a_pipe_that_is_closed_is_an_empty_one() -> None:
    console, _ = console_of()
    closed = Failing(ValueError("I/O operation on closed file"))
    with pytest.raises(UsageProblem, match="the task is blank"):
        read_task("-", console, closed)
    assert read_task("typed", console, closed) == "typed"
    with pytest.raises(UsageProblem, match="there is no message"):
        work_through(chat_with([], console), closed, signals_of(console))


# ---- the log ----


def test_a_record_that_cannot_be_formatted_is_said_to_be_so() -> None:
    console, err = console_of()
    with logging_to(console, debug=False, quiet=False):
        # Not through a logger: pytest's own handler would raise.
        record = logging.LogRecord("theirs", logging.WARNING, __file__, 1, "%d words", ("many",), None)
        logging.getLogger().handlers[-1].handle(record)
    assert err.getvalue().startswith("hookagent: warning: theirs: a message that cannot be formatted (TypeError): ")
    assert "'%d words'" in err.getvalue()


def test_with_debug_a_traceback_is_part_of_what_is_logged() -> None:
    console, err = console_of()
    with logging_to(console, debug=True, quiet=False):
        try:
            raise ValueError("deep")
        except ValueError:
            logging.getLogger("theirs").exception("it broke")
    assert "error: theirs: it broke\n" in err.getvalue()
    assert err.getvalue().endswith("ValueError: deep\n")


# ---- progress ----


def test_progress_of_a_tool_is_said_where_everything_is() -> None:
    call = ToolCall("c1", "count", None)
    for verbose in (True, False):
        console, err = console_of()
        progress = Progress(console, quiet=False, verbose=verbose, monotonic=lambda: 0.0)
        progress(ToolProgress(*AT, call, "half"))
        assert ("tool count: half" in err.getvalue()) is verbose


def test_the_plain_console_of_an_agent_says_one_line_of_each_step() -> None:
    out = io.StringIO()

    def look() -> str:
        """Look."""
        return "seen"

    agent = Agent(
        "tidy\n", tools=[look], model=ScriptedProvider([{"calls": [{"name": "look"}]}, "done"]), log=False, quiet=True
    )
    agent.subscribe(PlainConsole(out))
    agent.run_sync("go")
    lines = out.getvalue().splitlines()
    assert lines[0] == "tidy\\n: model scripted:script"
    assert lines[1] == "iteration 1 of 10"
    assert lines[2] == "  look ..."
    assert lines[3].startswith("  look: ok, ")
    assert lines[4] == "iteration 2 of 10"
    assert lines[5] == "completed: 0 tokens in, 0 out"
    assert len(lines) == 6


# ---- the answer ----


def test_what_was_shown_and_is_no_answer_is_set_aside() -> None:
    out, err = Terminal(), Terminal()
    answer = Answer(Console(out, err, {"TERM": "dumb"}), live=True)
    answer(MessageStart(*AT, "assistant"))
    answer(MessageDelta(*AT, "text", "Some"))
    answer(MessageDelta(*AT, "thinking", "hm"))
    answer(MessageDelta(*AT, "text", ""))
    answer(MessageReplaced(*AT, "retry"))
    answer(MessageDelta(*AT, "text", "Other"))
    answer(MessageStart(*AT, "assistant"))
    answer(MessageDelta(*AT, "text", "Last"))
    answer(TurnEnd(*AT, "limit", "stopped", NO_USAGE))
    assert out.getvalue() == "Some\nOther\nLast\n"
    assert err.getvalue().splitlines() == [
        "(this was not the answer: another attempt follows)",
        "(this was not the answer: the run went on)",
        "(this was not the answer: the turn ended without one)",
    ]


# ---- chat ----


def signals_of(console: Console) -> ChatSignals:
    return ChatSignals(chat_with([], console))


def test_a_history_that_cannot_be_read_costs_the_file_only(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).mkdir()
    kept = History(tmp_path, str)
    assert kept.lines == []
    assert kept.problem == f"{tmp_path / FILE_NAME}: is a directory; what is typed is kept for this chat only"


def test_without_a_terminal_an_answer_comes_at_the_end_of_its_turn_and_once() -> None:
    out = io.StringIO()
    console, err = console_of(out)
    chat = chat_with(["Yes.", {"error": "authentication", "message": "bad key"}], console, verbose=True)
    assert chat.turn("well?")
    assert not chat.turn("and?")
    assert out.getvalue() == "Yes.\n"
    assert "bad key" in err.getvalue()
    assert chat.code == 1


def test_an_answer_that_cannot_be_written_fails_the_turn_and_ends_the_pipe() -> None:
    console, err = console_of(Failing(no_room()))
    chat = chat_with(["Yes.", "Never."], console)
    assert work_through(chat, io.StringIO("one\ntwo\n"), ChatSignals(chat)) == 1
    assert err.getvalue().count("standard output cannot be written: no space left on device") == 1
    assert chat.agent.session.turn == 1


def test_a_reader_that_left_ends_the_pipe_quietly() -> None:
    console, err = console_of(Failing(BrokenPipeError()))
    chat = chat_with(["Yes.", "Never."], console)
    assert work_through(chat, io.StringIO("one\ntwo\n"), ChatSignals(chat)) == 0
    assert "error" not in err.getvalue()
    assert chat.agent.session.turn == 1


def test_a_reply_that_does_not_count_is_said_to_be_so() -> None:
    out, err = Terminal(), Terminal()
    view = View(Console(out, err, {"TERM": "dumb"}), live=True, calls=True)
    view(MessageStart(*AT, "assistant"))
    view(MessageReplaced(*AT, "retry"))
    assert err.getvalue() == ""
    for reason in ("retry", "replaced by 'editor'"):
        view(MessageDelta(*AT, "text", "Some"))
        view(MessageDelta(*AT, "thinking", "hm"))
        view(MessageReplaced(*AT, reason))
    assert err.getvalue().splitlines() == [
        "(this does not count: another attempt follows)",
        "(this does not count: replaced by 'editor')",
    ]


def test_a_replaced_reply_is_shown_as_it_is_stored() -> None:
    from hookagent.events import MessageEnd

    out = Terminal()
    view = View(Console(out, Terminal(), {"TERM": "dumb"}), live=True, calls=True)
    view(MessageDelta(*AT, "text", "Some"))
    view(MessageEnd(*AT, AssistantMessage((TextPart("Other"),))))
    view(MessageEnd(*AT, UserMessage("typed meanwhile\nin two lines", via="steer")))
    view(MessageEnd(*AT, UserMessage("a note", origin="reflection", via="plugin")))
    view(MessageEnd(*AT, UserMessage("the prompt")))
    assert out.getvalue() == "Some\nOther\n> typed meanwhile\n  in two lines\n"


@pytest.mark.parametrize("ending", ["md", "jsonl"])
def test_a_transcript_with_images_and_bare_calls_is_exported(ending: str, tmp_path: Path) -> None:
    def look() -> str:
        """Look."""
        return "seen"

    script = [{"calls": [{"name": "look"}]}, "done"]
    agent = Agent(tools=[look], model=ScriptedProvider(script), log=False, quiet=True)
    agent.run_sync(UserMessage("what is it?", images=(Image("aGk=", "image/png"),)))
    path, count = export_transcript(agent, str(tmp_path / f"talk.{ending}"))
    text = path.read_text(encoding="utf-8")
    assert count == 4
    assert "what is it?" in text
    assert ("1 image\n" in text) is (ending == "md")
    assert text.count("## Assistant") == (2 if ending == "md" else 0)


def test_a_home_that_nobody_knows_is_a_part_of_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    agent = Agent(model=ScriptedProvider([]), log=False, quiet=True)
    assert export_transcript(agent, "~nobody-of-this-name.md")[0] == Path("~nobody-of-this-name.md")


def test_the_cost_says_what_plugins_used_and_how_full_the_window_is() -> None:
    from hookagent.usage import Usage

    console, err = console_of()
    reply = {"text": "done", "usage": {"input_tokens": 500, "output_tokens": 20}}
    agent = Agent(model=ScriptedProvider([reply], context_window=1_000), log=False, quiet=True)
    agent.run_sync("go")
    agent.book(Usage(input_tokens=7, output_tokens=3, requests=1), "reflection")
    assert obey("/cost", console, agent) == "done"
    lines = err.getvalue().splitlines()
    assert lines[0].startswith("1 turn: 507 in (0 from the cache, 0 into it) / 23 out")
    assert lines[1].startswith("of that reflection: 7 in / 3 out")
    assert lines[2] == "the window is 52 % full"


# ---- sessions as text ----


@pytest.mark.parametrize("seconds", [float("nan"), 1e300, -1e300])
def test_a_time_that_cannot_be_is_a_dash(seconds: float) -> None:
    assert moment(seconds) == "-"


def test_all_that_can_be_known_of_a_session_is_shown() -> None:
    state = SessionState(Limits())
    state.transcript = state.transcript.with_user(UserMessage("look", images=(Image("aGk=", "image/png"),)))
    state.transcript = state.transcript.with_user(UserMessage("a note", origin="reflection", via="plugin"))
    row = Row(1, "s1", "tidy", "scripted", "/home", "p1", "f1", 7, time.time())
    queued = QueuedMessage(1, UserMessage("and then?", via="follow_up"))
    text = session_text(row, Restored(state, queued=(queued,), problems=("record 3 is damaged",)))
    for part in (
        "by a tool of session p1\n",
        "forked from session f1 at record 7\n",
        "user:\n  look\n  (1 image)\n",
        "user (reflection):\n  a note\n",
        "queued (follow up):\n  and then?\n",
        "problems:\n  record 3 is damaged\n",
    ):
        assert part in text
