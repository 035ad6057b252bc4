"""`hookagent run`, in this process: streams, exit codes, and what is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

ANSWER = "- The answer is 42.\n"
WRITES = """\
- calls: [{name: write_file, arguments: {path: new.txt, content: hello}}]
- Done.
"""
LOOK = """\
- text: Let me look.
  calls: [{name: count_words, arguments: {path: some.txt}}]
  usage: {input_tokens: 12400, output_tokens: 1100, cost_usd: 0.041}
- There are two words.
"""


def test_completed_run_gives_0_and_only_the_answer_on_stdout(command: Any, script: Any) -> None:
    got = command("run", "-m", script(ANSWER), "-t", "read_file", "What?")
    assert got.code == 0
    assert got.out == "The answer is 42.\n"
    first, *_, last = got.err.splitlines()
    assert first == "model scripted:replies.yaml: scripted replies from replies.yaml; no model is asked"
    assert last.startswith("done in 1 iteration, 0 tool calls, 0 in / 0 out, $0, ")


def test_text_beside_calls_is_no_part_of_the_answer(command: Any, script: Any, folder: Path) -> None:
    (folder / "some.txt").write_text("two words")
    got = command("run", "-m", script(LOOK), "-t", "count_words", "How many?")
    assert got.out == "There are two words.\n"
    assert "done in 2 iterations, 1 tool call, 12.4k in / 1.1k out, $0.041, " in got.err


def test_an_unknown_price_stays_unknown(command: Any, script: Any) -> None:
    model = script("- {text: Yes., usage: {input_tokens: 1, cost_usd: null}}\n")
    assert ", price unknown, " in command("run", "-m", model, "-t", "read_file", "x").err


def test_failed_run_gives_1(command: Any, script: Any) -> None:
    got = command("run", "-m", script("- {error: invalid_request, message: it broke}\n"), "-t", "read_file", "x")
    assert (got.code, got.out) == (1, "")
    assert "hookagent: error: scripted: it broke" in got.err


def test_run_stopped_by_a_plugin_gives_1(command: Any, script: Any, site: Any) -> None:
    site.plugin(
        "stopper",
        "from hookagent import Stop, hookimpl\nclass Plugin:\n    @hookimpl\n"
        "    def before_llm(self, iteration):\n        return Stop('enough')\n",
    )
    got = command("run", "-m", script("[]"), "-t", "read_file", "-p", "stopper", "x")
    assert (got.code, got.out) == (1, "")
    assert "hookagent: stopped: 'stopper' stopped the run: enough" in got.err


def test_failing_on_complete_keeps_the_answer_and_gives_1(command: Any, script: Any, site: Any) -> None:
    site.plugin(
        "late",
        "from hookagent import hookimpl\nclass Plugin:\n    @hookimpl\n"
        "    def on_complete(self, outcome):\n        raise RuntimeError('too late')\n",
    )
    got = command("run", "-m", script(ANSWER), "-t", "read_file", "-p", "late", "x")
    assert (got.code, got.out) == (1, "The answer is 42.\n")
    assert "hookagent: error: plugin 'late' (hookagent-late 1.0): hook 'on_complete' raised" in got.err


def test_failing_on_session_end_keeps_the_answer_and_gives_1(command: Any, script: Any, site: Any) -> None:
    site.plugin(
        "last",
        "from hookagent import hookimpl\nclass Plugin:\n    @hookimpl\n"
        "    def on_session_end(self):\n        raise RuntimeError('at the very end')\n",
    )
    got = command("run", "-m", script(ANSWER), "-t", "read_file", "-p", "last", "x")
    assert (got.code, got.out) == (1, "The answer is 42.\n")
    assert "hookagent: error: plugin 'last' (hookagent-last 1.0): hook 'on_session_end' raised" in got.err


def test_every_plugin_that_fails_at_the_end_of_the_session_is_told_once(command: Any, script: Any, site: Any) -> None:
    for name in ("first", "second"):
        site.plugin(
            name,
            "from hookagent import hookimpl\nclass Plugin:\n    @hookimpl\n"
            f"    def on_session_end(self):\n        raise RuntimeError('{name} is late')\n",
        )
    got = command("run", "-q", "--json", "-m", script(ANSWER), "-t", "read_file", "-p", "first", "-p", "second", "x")
    told = [line for line in got.err.splitlines() if "hook 'on_session_end' raised" in line]
    assert [line.partition(" (")[0] for line in told] == [
        "hookagent: error: plugin 'first'",
        "hookagent: error: plugin 'second'",
    ]
    last = json.loads(got.out.splitlines()[-1])
    assert (got.code, last["status"], len(last["errors"])) == (1, "completed", 2)


def test_a_softened_plugin_costs_no_exit_code(command: Any, script: Any, site: Any, folder: Path) -> None:
    site.plugin(
        "shaky",
        "from hookagent import hookimpl\nclass Plugin:\n    @hookimpl\n"
        "    def on_session_start(self):\n        raise RuntimeError('shaky')\n",
    )
    (folder / "hookagent.yaml").write_text("plugins:\n  - {use: shaky, on_error: warn}\n")
    got = command("run", "-m", script(ANSWER), "-t", "read_file", "x")
    assert (got.code, got.out) == (0, "The answer is 42.\n")
    assert "hookagent: warning: plugin 'shaky': hook 'on_session_start' raised" in got.err


def test_a_limit_gives_3_and_our_words_are_no_answer(command: Any, script: Any) -> None:
    model = script("- calls: [{name: list_files, arguments: {}}]\n" * 2)
    got = command("run", "-m", model, "-t", "list_files", "--max-iterations", "2", "x")
    assert (got.code, got.out) == (3, "")
    assert (
        "hookagent: limit: stopped after 2 iterations: the limit max_iterations is 2; raise it with --max-iterations"
    ) in got.err


def test_refused_run_gives_4_whatever_the_model_answers(command: Any, script: Any, site: Any, folder: Path) -> None:
    site.approval()
    got = command("run", "-m", script(WRITES), "x")
    assert (got.code, got.out) == (4, "Done.\n")
    assert "hookagent: refused: a call was refused: nobody can be asked" in got.err
    assert "1 tool call (1 denied)" in got.err
    assert not (folder / "new.txt").exists()


def test_waiting_run_gives_4(command: Any, script: Any, site: Any) -> None:
    site.approval()
    got = command("run", "-m", script(WRITES), "--ask", "wait", "x")
    assert (got.code, got.out) == (4, "")
    assert "hookagent: waiting: waiting for an answer to: write_file" in got.err


def test_a_tool_that_interrupts_gives_130(command: Any, script: Any, folder: Path) -> None:
    (folder / "own_tools.py").write_text("def stop() -> str:\n    'Stop.'\n    raise KeyboardInterrupt\n")
    model = script("- calls: [{name: stop, arguments: {}}]\n")
    got = command("run", "-m", model, "-t", "own_tools:stop", "-p", "no:human-approval", "x")
    assert (got.code, got.out) == (130, "")
    assert "hookagent: interrupted\n" in got.err


def test_a_failing_plugin_gives_1_and_a_closing_line(command: Any, script: Any, site: Any) -> None:
    site.plugin(
        "bad",
        "from hookagent import hookimpl\nclass Plugin:\n    @hookimpl\n"
        "    def before_llm(self, iteration):\n        raise ValueError('no')\n",
    )
    got = command("run", "-m", script("[]"), "-t", "read_file", "-p", "bad", "x")
    assert (got.code, got.out) == (1, "")
    assert got.err.count("hookagent: error:") == 1
    assert "hookagent: error: plugin 'bad' (hookagent-bad 1.0): hook 'before_llm' raised ValueError: no" in got.err
    assert "failed after 1 iteration" in got.err


def test_an_unused_script_is_an_error(command: Any, script: Any) -> None:
    got = command("run", "-m", script("- One.\n- Two.\n"), "-t", "read_file", "x")
    assert (got.code, got.out) == (1, "One.\n")
    assert (
        "hookagent: error: replies.yaml:2: step 2: not used; the run asked for fewer replies than the script has"
    ) in got.err


def test_quiet_says_nothing_but_the_answer(command: Any, script: Any) -> None:
    assert command("run", "-q", "-m", script(ANSWER), "-t", "read_file", "x") == (0, "The answer is 42.\n", "")


def test_quiet_still_says_what_is_wrong(command: Any, script: Any) -> None:
    got = command("run", "-q", "-m", script("- {error: invalid_request, message: it broke}\n"), "-t", "read_file", "x")
    assert got == (1, "", "hookagent: error: scripted: it broke\n")


def test_verbose_tells_of_calls_and_hooks(command: Any, script: Any, site: Any, folder: Path) -> None:
    site.approval()
    (folder / "some.txt").write_text("two words")
    got = command("run", "-v", "-m", script(LOOK), "x")
    assert 'tool count_words(path="some.txt"): ok, ' in got.err
    assert "hooks: human-approval 1 call " in got.err


def test_verbose_masks_secrets_in_arguments(
    command: Any, script: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_KEY", "hunter2hunter2")
    (folder / "own_tools.py").write_text("def send(text: str, password: str) -> str:\n    'Send.'\n    return 'ok'\n")
    model = script("- calls: [{name: send, arguments: {text: see hunter2hunter2, password: geheim}}]\n- Sent.\n")
    got = command("run", "-v", "-m", model, "-t", "own_tools:send", "-p", "no:human-approval", "x")
    assert 'tool send(text="see ***", password="***"): ok' in got.err
    assert "hunter2" not in got.err
    assert "geheim" not in got.err


def test_debug_prints_the_log_and_the_traceback_without_secrets(
    command: Any, script: Any, site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_KEY", "sk-test-SECRET123")
    site.plugin(
        "noisy",
        "import logging\nfrom hookagent import hookimpl\nclass Plugin:\n    @hookimpl\n"
        "    def before_llm(self, iteration):\n"
        "        logging.getLogger('noisy').debug('header %s', 'sk-test-SECRET123')\n"
        "        raise ValueError('key sk-test-SECRET123')\n",
    )
    got = command("run", "--debug", "-m", script("[]"), "-t", "read_file", "-p", "noisy", "x")
    assert "debug: noisy: header ***" in got.err
    assert "Traceback (most recent call last)" in got.err
    assert "ValueError: key ***" in got.err
    assert "SECRET123" not in got.err


def test_warnings_of_libraries_are_one_line(command: Any, script: Any, site: Any) -> None:
    site.plugin(
        "warner",
        "import logging\nfrom hookagent import hookimpl\nclass Plugin:\n    @hookimpl\n"
        "    def before_llm(self, iteration):\n        logging.getLogger('lib').warning('two\\nlines \\x1b[2J')\n",
    )
    got = command("run", "-m", script(ANSWER), "-t", "read_file", "-p", "warner", "x")
    assert "hookagent: warning: lib: two lines \\x1b[2J\n" in got.err


def test_foreign_text_is_escaped_on_stderr(command: Any, script: Any) -> None:
    model = script('- calls: [{name: "evil\\e[2J\\u202e", arguments: {}}]\n- "Done."\n')
    got = command("run", "-v", "-m", model, "-t", "read_file", "x")
    assert "\x1b" not in got.err
    assert "\u202e" not in got.err
    assert "tool evil\\x1b[2J\\u202e()" in got.err
