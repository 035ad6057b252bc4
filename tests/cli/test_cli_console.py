"""What is written, and how: escaped, masked, replaced where the encoding fails, quiet where nobody reads."""

from __future__ import annotations

import io
import sys

import pytest

from hookagent.cli.console import Console
from hookagent.cli.masking import masked_value
from hookagent.cli.table import table
from hookagent.masking import Masker


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_secrets_of_the_environment_are_masked() -> None:
    mask = Masker({"MY_TOKEN": "abcdef-longer", "X_PASSWORD": "abcdef", "USE_KEYS": "1", "PATH": "/usr/bin"})
    assert mask("abcdef-longer abcdef /usr/bin 1") == "*** *** /usr/bin 1"


@pytest.mark.parametrize("text", ["sk-ant-REDACTED", "Authorization: Bearer abcdefghijkl", "ghp_abcdefghijklmnopqrst"])
def test_what_is_shaped_like_a_key_is_masked(text: str) -> None:
    assert Masker({})(text).endswith("***")


def test_values_under_secret_names_are_masked_at_any_depth() -> None:
    value = {"headers": [{"authorization": "x y"}], "n": 1, "max_tokens": 3, "passwords": {"a": "b"}}
    assert masked_value(value) == {
        "headers": [{"authorization": "***"}],
        "n": 1,
        "max_tokens": 3,
        "passwords": {"a": "***"},
    }


def test_say_masks_and_escapes() -> None:
    err = io.StringIO()
    console = Console(io.StringIO(), err, {"A_KEY": "secret-value"})
    console.say("x\x1b[0m\nsecret-value")
    console.say("first\n\x1b\tsecret-value", whole=True)
    assert err.getvalue() == "x\\x1b[0m ***\nfirst\n\\x1b\t***\n"


def test_the_status_line_is_drawn_on_a_terminal_only() -> None:
    elsewhere, terminal, plain = io.StringIO(), Terminal(), Terminal()
    Console(None, elsewhere, {}).status("working")
    Console(None, Terminal(), {"TERM": "dumb"}).status("working")
    console = Console(None, terminal, {})
    console.status("working")
    console.say("done")
    Console(None, plain, {"NO_COLOR": "1"}).status("working")
    assert elsewhere.getvalue() == ""
    assert terminal.getvalue() == "\r\x1b[K\x1b[2mworking\x1b[0m\r\x1b[Kdone\n"
    assert plain.getvalue() == "\r\x1b[Kworking"


@pytest.mark.parametrize("environment", [{"TERM": "dumb"}, {"CI": "true"}])
def test_where_lines_cannot_be_redrawn(environment: dict[str, str]) -> None:
    assert not Console(None, Terminal(), environment).redraws


def test_a_line_of_the_answer_is_ended_before_anything_else() -> None:
    out, err = Terminal(), Terminal()
    console = Console(out, err, {})
    console.write("half a line")
    console.say("a note")
    assert out.getvalue() == "half a line\n"
    out2 = io.StringIO()
    console = Console(out2, err, {})
    console.write("half a line")
    console.say("a note")
    assert out2.getvalue() == "half a line"


def test_a_line_that_is_not_ours_is_ended_on_a_terminal_only() -> None:
    terminal, elsewhere = Terminal(), io.StringIO()
    for stream in (terminal, elsewhere):
        Console(None, stream, {}).break_line()
    assert (terminal.getvalue(), elsewhere.getvalue()) == ("\n", "")


def test_an_encoding_without_a_character_never_raises() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    Console(stream, None, {}).write("café \ud800\n")
    assert raw.getvalue() == b"caf\\xe9 \\ud800\n"


def test_closed_and_missing_outputs_are_quiet() -> None:
    closed = io.StringIO()
    closed.close()
    for stream in (closed, None):
        console = Console(stream, stream, {})
        console.write("x")
        console.say("x")
        console.status("x")


def test_a_table_is_aligned_and_escaped() -> None:
    assert table(("A", "B"), [("x\x1b", "long"), ("yy", "")]) == "A      B\nx\\x1b  long\nyy\n"
    assert table(("A",), []) == ""


@pytest.mark.parametrize(
    ("environment", "redraws"),
    [({}, False), ({"WT_SESSION": "1"}, True), ({"TERM": "xterm"}, True), ({"ConEmuANSI": "OFF"}, False)],
)
def test_an_old_console_of_windows_is_not_asked_to_erase_a_line(
    environment: dict[str, str], redraws: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    console = Console(None, Terminal(), environment)
    monkeypatch.undo()
    assert console.redraws is redraws
