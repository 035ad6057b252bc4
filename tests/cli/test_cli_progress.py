"""The progress of a run on a terminal and elsewhere, and the answer as it comes."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hookagent.agent import Agent
from hookagent.cli.answer import Answer
from hookagent.cli.console import Console
from hookagent.cli.progress import Progress, Ticker, call_line
from hookagent.events import Compaction, HookReport, ResolveEnd, ResolveStart, Retry
from hookagent.frozen import freeze
from hookagent.markers import hookimpl
from hookagent.messages import ToolCall, ToolResult
from hookagent.providers.scripted import ScriptedProvider
from hookagent.verdicts import Approve, Deny, Replace, Suspend


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def look(path: str) -> str:
    """Look."""
    return f"seen {path}"


LOOK = [
    {"text": "Let me look.", "calls": [{"name": "look", "arguments": {"path": "a"}}], "usage": {"input_tokens": 1500}},
    "It is there.",
]


def follow(steps: Sequence[Any], progress: Progress | None, answer: Answer | None, plugins: Sequence[Any] = ()) -> Any:
    agent = Agent(tools=[look], model=ScriptedProvider(steps), plugins=plugins)
    for listener in (progress, answer):
        if listener is not None:
            agent.subscribe(listener)
    return agent.run_sync("look")


def still() -> float:
    return 0.0


def test_plain_lines_where_there_is_no_terminal() -> None:
    err = io.StringIO()
    progress = Progress(Console(None, err, {}), quiet=False, verbose=False, monotonic=still)
    follow(LOOK, progress, None)
    assert err.getvalue() == "iteration 1 of 10, 0.0 s\niteration 2 of 10, 1.5k tokens, 0.0 s\n"
    assert (progress.tool_calls, progress.denied) == (1, 0)


def test_one_line_redrawn_on_a_terminal_and_gone_in_the_end() -> None:
    err = Terminal()
    progress = Progress(Console(None, err, {"NO_COLOR": "1"}), quiet=False, verbose=False, monotonic=still)
    follow(LOOK, progress, None)
    progress.stop()
    erase = "\r\x1b[K"
    assert err.getvalue() == (
        f"{erase}iteration 1 of 10 · 0 s"
        f"{erase}iteration 1 of 10 · 1.5k tokens · 0 s"
        f"{erase}iteration 1 of 10 · look · 1.5k tokens · 0 s{erase}"
        f"{erase}iteration 2 of 10 · 1.5k tokens · 0 s"
        f"{erase}iteration 2 of 10 · 1.5k tokens · 0 s{erase}"
    )


@pytest.mark.parametrize("answer", [Approve(), Deny("no")])
def test_there_is_no_line_while_a_question_is_open(answer: Any) -> None:
    err = Terminal()
    now = [0.0]
    console = Console(None, err, {"NO_COLOR": "1"})
    progress = Progress(console, quiet=False, verbose=False, monotonic=lambda: now[0])
    at_the_gate: list[str] = []
    at_the_question: list[str] = []

    class Asks:
        @hookimpl
        def before_each_tool(self, tool_call: Any) -> Suspend:
            now[0] = 3.0
            progress.tick()
            at_the_gate.append(err.getvalue())
            return Suspend("it may look only once")

        @hookimpl
        def resolve_suspended(self, pending: Any) -> Any:
            at_the_question.append(err.getvalue())
            now[0] = 60.0
            progress.tick()
            at_the_question.append(err.getvalue())
            return {one.call.id: answer for one in pending}

    follow(LOOK, progress, None, [Asks()])
    erase = "\r\x1b[K"
    assert at_the_gate[0].endswith(f"{erase}iteration 1 of 10 · 1.5k tokens · 3 s")
    assert at_the_question == [f"{at_the_gate[0]}{erase}"] * 2
    assert err.getvalue().startswith(f"{at_the_question[1]}{erase}iteration 1 of 10 · 1.5k tokens · 60 s")


def test_a_question_before_the_first_iteration_is_followed_by_a_line_without_one() -> None:
    err = Terminal()
    progress = Progress(Console(None, err, {"NO_COLOR": "1"}), quiet=False, verbose=False, monotonic=still)
    call = ToolCall("1", "look", freeze({"path": "a"}))
    progress(ResolveStart(1, 0.0, 2, 0, (call,)))
    assert err.getvalue() == ""
    progress(ResolveEnd(2, 0.0, 2, 0, ("1",)))
    assert err.getvalue() == "\r\x1b[K0 s"


def test_a_tick_draws_only_what_stands() -> None:
    err = Terminal()
    now = [0.0]
    progress = Progress(Console(None, err, {"NO_COLOR": "1"}), quiet=False, verbose=False, monotonic=lambda: now[0])
    progress.tick()
    assert err.getvalue() == ""
    agent = Agent(model=ScriptedProvider(["Yes."]))
    agent.subscribe(progress)

    def ticking(event: Any) -> None:
        if event.type == "request":
            now[0] = 7.0
            progress.tick()

    agent.subscribe(ticking)
    agent.run_sync("x")
    assert "iteration 1 of 10 · 7 s" in err.getvalue()
    progress.stop()
    before = err.getvalue()
    progress.tick()
    assert err.getvalue() == before


def test_a_ticker_ends_with_its_block() -> None:
    console = Console(None, Terminal(), {})
    with Ticker(Progress(console, quiet=False, verbose=False), console) as ticker:
        assert ticker._thread.is_alive()
    assert not ticker._thread.is_alive()


def test_quiet_says_nothing_and_counts_all_the_same() -> None:
    err = Terminal()
    progress = Progress(Console(None, err, {}), quiet=True, verbose=False)
    follow(LOOK, progress, None)
    assert (err.getvalue(), progress.tool_calls) == ("", 1)


@pytest.mark.parametrize(
    ("hook", "outcome", "verbose", "said"),
    [
        ("before_llm", "slow", False, True),
        ("before_llm", "overran", False, True),
        ("resolve_suspended", "slow", False, False),
        ("before_llm", "returned", False, False),
        ("before_llm", "returned", True, True),
    ],
)
def test_reports_of_hooks(hook: str, outcome: str, verbose: bool, said: bool) -> None:
    err = io.StringIO()
    progress = Progress(Console(None, err, {}), quiet=False, verbose=verbose)
    progress(HookReport(1, 0.0, 1, 1, "mine", hook, outcome, "details", 12.0))
    assert err.getvalue() == (f"hook {hook} of mine: {outcome} (details), 12.0 ms\n" if said else "")


def test_retries_and_shortened_requests_are_told() -> None:
    err = io.StringIO()
    progress = Progress(Console(None, err, {}), quiet=False, verbose=False)
    progress(Retry(1, 0.0, 1, 1, 2, 1.5, "openai: too busy"))
    progress(Compaction(2, 0.0, 1, 1, "context-window", 12, 5, True))
    progress(Compaction(3, 0.0, 1, 1, "context-window", 1, 1, False))
    assert err.getvalue() == (
        "retry 2 in 1.5 s: openai: too busy\n"
        "context-window: 5 of 12 blocks sent, the rest as a summary\n"
        "context-window: 1 of 1 block sent\n"
    )


def test_a_call_as_one_line() -> None:
    call = ToolCall("1", "send", freeze({"to": "me", "api_key": "abc", "text": "x" * 1_000}))
    line = call_line(call, ToolResult("boom " * 100, True, "error", "1", "ValueError", 12.3))
    assert line.startswith('tool send(to="me", api_key="***", text="xxx')
    assert "…): error, 12 ms: boom boom" in line
    assert len(line) < 600
    broken = ToolCall("1", "send", None, '{"to": ', "not JSON")
    assert call_line(broken, ToolResult("no", True, "not_run", "1")) == 'tool send({"to": ): not run: no'


def both() -> tuple[Terminal, Terminal, Console]:
    out, err = Terminal(), Terminal()
    return out, err, Console(out, err, {})


def test_a_live_answer_stands_once() -> None:
    out, err, console = both()
    answer = Answer(console, live=True)
    result = follow(["It is 42, and here is a longer explanation."], None, answer)
    assert out.getvalue() == "It is 42, and here is a longer explanation."
    answer.finish(result)
    assert out.getvalue() == "It is 42, and here is a longer explanation.\n"
    assert err.getvalue() == ""


def test_text_that_accompanies_calls_is_set_aside() -> None:
    out, err, console = both()
    answer = Answer(console, live=True)
    answer.finish(follow(LOOK, None, answer))
    assert out.getvalue() == "Let me look.\nIt is there.\n"
    assert err.getvalue() == "(this was not the answer: the model calls tools)\n"


def test_an_answer_that_a_plugin_sends_back_is_set_aside() -> None:
    class Again:
        @hookimpl
        def before_complete(self, answer: str) -> str | None:
            return "sure?" if answer == "No." else None

    out, err, console = both()
    answer = Answer(console, live=True)
    answer.finish(follow(["No.", "Yes."], None, answer, [Again()]))
    assert out.getvalue() == "No.\nYes.\n"
    assert err.getvalue() == "(this was not the answer: the run went on)\n"


def test_an_answer_that_a_plugin_replaced_is_written_anew() -> None:
    class Other:
        @hookimpl
        def after_llm(self, request: Any, response: Any) -> Replace:
            return Replace(response.changed(text="Other."))

    out, err, console = both()
    answer = Answer(console, live=True)
    answer.finish(follow(["First."], None, answer, [Other()]))
    assert out.getvalue() == "First.\nOther.\n"
    assert err.getvalue().startswith("(this was not the answer: replaced by '")


def test_an_answer_is_escaped_on_a_terminal_and_exact_elsewhere() -> None:
    hostile = "a\x1b[2Jb\r\nc"
    out, _, console = both()
    Answer(console, live=False).finish(follow([hostile], None, None))
    assert out.getvalue() == "a\\x1b[2Jb\nc\n"
    plain = io.StringIO(newline="")
    Answer(Console(plain, None, {}), live=False).finish(follow([hostile], None, None))
    assert plain.getvalue() == f"{hostile}\n"


START = "import sys\nfrom hookagent.cli import main\nsys.exit(main())"


def on_a_terminal(folder: Path, *words: str, typed: str = "") -> tuple[int, str]:
    """Run the command with a terminal of its own as all three streams, at which `typed` was typed before."""
    environment = {name: value for name, value in os.environ.items() if name not in ("CI", "NO_COLOR")}
    environment.update({"PYTHONPATH": os.pathsep.join(path for path in sys.path if path), "TERM": "xterm"})
    ours, theirs = pty.openpty()
    os.write(ours, typed.encode())
    with subprocess.Popen(
        [sys.executable, "-c", START, *words],
        cwd=folder,
        env=environment,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    ) as process:
        os.close(theirs)
        chunks = []
        while True:
            try:
                chunk = os.read(ours, 4096)
            except OSError:
                break
            if not chunk:
                break
            chunks.append(chunk)
        os.close(ours)
        code = process.wait(timeout=60)
    return code, b"".join(chunks).decode()


def test_the_command_on_a_real_terminal(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one two")
    steps = [{"text": "Let me look.", "calls": [{"name": "count_words", "arguments": {"path": "a.txt"}}]}, "Two."]
    (tmp_path / "replies.yaml").write_text(json.dumps(steps))
    words = ["run", "-m", "scripted:replies.yaml", "-t", "count_words", "-o", "plugins=[]", "How many?"]
    code, text = on_a_terminal(tmp_path, *words)
    assert code == 0
    assert "\x1b[2miteration 1 of 10 · count_words · 0 s\x1b[0m" in text
    assert "Let me look.\r\n(this was not the answer: the model calls tools)\r\n" in text
    assert "\x1b[KTwo.\r\ndone in 2 iterations, 1 tool call," in text


def test_no_task_on_a_real_terminal_is_an_error_at_once(tmp_path: Path) -> None:
    code, text = on_a_terminal(tmp_path, "run")
    assert code == 2
    assert text.startswith("hookagent: error: there is no task; ")


@pytest.mark.parametrize("words", [["run", "-q", "-m", "scripted:replies.yaml", "-t", "read_file", "x"]])
def test_quiet_on_a_real_terminal(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "replies.yaml").write_text("- Yes.\n")
    assert on_a_terminal(tmp_path, *words, "-o", "plugins=[]") == (0, "Yes.\r\n")
