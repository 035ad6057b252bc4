"""Lines that are piped in: each is a turn, the answers alone go to standard output, the last line decides the code."""

from __future__ import annotations

from typing import Any

import pytest

WORDS = ("-t", "read_file", "-o", "plugins=[]")


def test_each_line_is_a_turn_of_one_session(command: Any, script: Any) -> None:
    model = script("- {text: One., expect: first}\n- {text: Two., expect: second}\n")
    got = command("chat", "-m", model, *WORDS, stdin="first\n\n  \nsecond")
    assert (got.code, got.out) == (0, "One.\nTwo.\n")
    ended = [line for line in got.err.splitlines() if line.startswith("done in 1 iteration")]
    assert len(ended) == 2
    assert len({line.rpartition(" ")[2] for line in ended}) == 1


def test_nothing_but_the_answers_when_it_is_to_be_quiet(command: Any, script: Any) -> None:
    got = command("chat", "-q", "-m", script("- One.\n"), *WORDS, stdin="first\r\n")
    assert got == (0, "One.\n", "")


@pytest.mark.parametrize(
    ("replies", "lines", "out", "code"),
    [
        ("- {error: invalid_request}\n- Fine.\n", "a\nb\n", "Fine.\n", 0),
        ("- Fine.\n- {error: invalid_request}\n", "a\nb\n", "Fine.\n", 1),
        ("- Fine.\n- calls: [{name: read_file, arguments: {path: x}}]\n", "a\nb\n", "Fine.\n", 3),
        ("- Fine.\n", "/nope\na\n", "Fine.\n", 0),
        ("- Fine.\n", "a\n/nope\n", "Fine.\n", 2),
        ("- Fine.\n", "a\n/cost\n", "Fine.\n", 0),
        ("- Fine.\n", "a\n/quit\nb\n", "Fine.\n", 0),
        ("[]\n", "/quit\n", "", 0),
        ("- Fine.\n- Left over.\n", "a\n", "Fine.\n", 1),
    ],
    ids=["mended", "failed", "limit", "unknown", "unknown last", "command last", "quit", "quit at once", "left over"],
)
def test_the_exit_code_is_that_of_the_last_line(
    replies: str, lines: str, out: str, code: int, command: Any, script: Any
) -> None:
    got = command("chat", "-m", script(replies), "--max-iterations", "1", *WORDS, stdin=lines)
    assert (got.code, got.out) == (code, out)


@pytest.mark.parametrize(
    ("piped", "said"),
    [
        (
            b"",
            "standard input: there is no message; pipe in one message a line: printf '...\\n...\\n' | hookagent chat",
        ),
        (b" \n\n", "standard input: there is no message; pipe in one message a line: "),
        (b"fine\n\xff\n", "standard input:2: not UTF-8 text; convert it first (iconv -t utf-8)"),
        (b"a\0b\n", "standard input:1: not text: it holds a NUL character; convert it first"),
        (None, "standard input: there is no message; "),
    ],
    ids=["nothing", "blank", "bytes", "nul", "closed"],
)
def test_what_is_no_message_is_said(piped: bytes | None, said: str, command: Any, script: Any) -> None:
    got = command("chat", "-q", "-m", script("- Yes.\n"), *WORDS, stdin=piped)
    assert got.code == 2
    assert got.err.startswith(f"hookagent: error: {said}")


def test_a_mark_at_the_beginning_is_no_text(command: Any, script: Any) -> None:
    got = command("chat", "-q", "-m", script("- Yes.\n"), *WORDS, stdin=b"\xef\xbb\xbf/cost\nhello\n")
    assert (got.code, got.out) == (0, "Yes.\n")
    assert got.err == "0 turns: 0 in (0 from the cache, 0 into it) / 0 out, $0\n"


def test_a_path_or_a_blank_makes_a_line_text(command: Any, script: Any) -> None:
    model = script("- {text: One., expect: /etc/hosts}\n- {text: Two., expect: ' /quit'}\n")
    got = command("chat", "-q", "-m", model, *WORDS, stdin="/etc/hosts is long\n /quit\n")
    assert got == (0, "One.\nTwo.\n", "")


def test_what_excludes_each_other_is_refused(command: Any, script: Any) -> None:
    got = command("chat", "-q", "-v", "-m", script("[]\n"), stdin="a\n")
    assert got == (2, "", "hookagent: error: -q and -v: they exclude each other; leave one out\n")


def test_a_plugin_that_fails_ends_its_turn_only(command: Any, script: Any, site: Any) -> None:
    site.plugin(
        "once",
        "from hookagent import hookimpl\nclass Plugin:\n    failed = False\n    @hookimpl\n"
        "    def before_llm(self, iteration):\n        if not self.failed:\n            self.failed = True\n"
        "            raise ValueError('once')\n",
    )
    got = command("chat", "-q", "-m", script("- Fine.\n"), "-t", "read_file", "-p", "once", stdin="a\nb\n")
    assert (got.code, got.out) == (0, "Fine.\n")
    assert "once" in got.err


def test_a_session_goes_on_in_another_chat(command: Any, script: Any, home: Any) -> None:
    assert command("chat", "-q", "-m", script("- One.\n"), *WORDS, stdin="first\n").code == 0
    got = command("chat", "--continue", "-m", script("- Two.\n"), *WORDS, stdin="second\n/export all.md\n")
    assert (got.code, got.out) == (0, "Two.\n")
    assert "goes on: 1 turn so far" in got.err
    assert "all.md: 4 messages written" in got.err
