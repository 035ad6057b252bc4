import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookagent.tools.builtin import builtin_tools
from hookagent.tools.builtin.confined import Root
from hookagent.tools.builtin.reading import ReadingTools


@pytest.mark.parametrize(
    ("path", "error", "says"),
    [
        ("note.txt", FileNotFoundError, "'note.txt' does not exist; did you mean 'notes.txt'?"),
        ("src/c/x.py", FileNotFoundError, "'src/c' does not exist"),
        ("src", IsADirectoryError, "'src' is a directory"),
        (".", IsADirectoryError, "is a directory"),
        ("", IsADirectoryError, "is a directory"),
        ("notes.txt/x", NotADirectoryError, "'notes.txt' is not a directory"),
        ("pipe", ValueError, "is not a regular file"),
        ("data.bin", ValueError, "is not a text file (8 bytes of binary data)"),
        ("a\x00b", ValueError, "NUL"),
    ],
)
def test_what_cannot_be_read_is_said_clearly(
    path: str, error: type[Exception], says: str, reading: ReadingTools
) -> None:
    for call in (reading.read_file, reading.count_words):
        with pytest.raises(error) as caught:
            call(path)
        assert says in str(caught.value)


@pytest.mark.parametrize(
    ("content", "counted"),
    [
        (b"one two\nthree\n", "3 words, 2 lines, 14 characters"),
        (b"one two\nthree", "3 words, 2 lines, 13 characters"),
        (b"", "0 words, 0 lines, 0 characters"),
        (b"\n \n", "0 words, 2 lines, 3 characters"),
        (b"word", "1 word, 1 line, 4 characters"),
        ("\ufeffcafé au lait".encode(), "3 words, 1 line, 12 characters"),
        ("a b".encode("utf-16"), "2 words, 1 line, 3 characters"),
        (b"a\xffb c", "2 words, 1 line, 5 characters"),
        (b"ab " * 100_000, "100000 words, 1 line, 300000 characters"),
        (b"a" * 200_000 + b" b", "2 words, 1 line, 200002 characters"),
    ],
)
def test_words_are_counted_as_they_stand(content: bytes, counted: str, root: Path, reading: ReadingTools) -> None:
    (root / "counted.txt").write_bytes(content)
    assert reading.count_words("counted.txt") == f"counted.txt: {counted}"


@given(st.text(alphabet="ab \n\t\u00a0é", max_size=30), st.integers(1, 7))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_the_count_does_not_depend_on_where_the_pieces_end(root: Path, text: str, size: int) -> None:
    (root / "pieces.txt").write_bytes(text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hookagent.tools.builtin.reading._CHUNK", size)
        counted = ReadingTools(Root(root)).count_words("pieces.txt")
    words = len(text.split())
    assert counted.startswith(f"pieces.txt: {words} word{'' if words == 1 else 's'}, ")


def test_a_large_file_is_read_in_parts_that_say_how_to_go_on(root: Path, reading: ReadingTools) -> None:
    (root / "long.txt").write_text("".join(f"line {number}\n" for number in range(1, 101)))
    first = reading.read_file("long.txt", max_lines=40)
    assert first.startswith("line 1\n")
    assert first.endswith("line 40\n[lines 1 to 40; go on with first_line=41]")
    assert reading.read_file("long.txt", 99) == "line 99\nline 100\n"
    assert reading.read_file("long.txt", 101) == "(the file ends at line 100)"
    (root / "empty.txt").write_text("")
    assert reading.read_file("empty.txt") == "(the file is empty)"
    with pytest.raises(ValueError, match="count from 1"):
        reading.read_file("long.txt", 0)


def test_what_is_read_is_bounded(root: Path, reading: ReadingTools) -> None:
    (root / "wide.txt").write_text("x" * 1_000_000 + "\n" + "second\n")
    text = reading.read_file("wide.txt")
    assert len(text) < 25_000
    assert "[line 1 is cut" in text
    assert "second" in text
    (root / "big.txt").write_text(("y" * 999 + "\n") * 2_000)
    text = reading.read_file("big.txt")
    assert len(text) < 85_000
    assert "go on with first_line=81]" in text


def test_files_are_listed_without_hidden_ones(reading: ReadingTools) -> None:
    assert reading.list_files(pattern="*.txt") == "notes.txt"
    listed = reading.list_files().split("\n")
    assert "src/" in listed
    assert ".git/" not in listed
    assert "link-out" in listed
    assert listed == sorted(listed)
    assert ".git/config" in reading.list_files(recursive=True, hidden=True).split("\n")
    assert "secret" not in reading.list_files(recursive=True, hidden=True)
    assert reading.list_files("src") == "src/a.py\nsrc/deep/"
    assert reading.list_files(pattern="*.rs") == "(no entries in '.' match '*.rs')"


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("**/*.py", "src/a.py\nsrc/deep/b.py"),
        ("src/*.py", "src/a.py"),
        ("src/**", "src/\nsrc/a.py\nsrc/deep/\nsrc/deep/b.py"),
        ("./src/**/b.py", "src/deep/b.py"),
        ("**/{a,b}.py", "src/a.py\nsrc/deep/b.py"),
        ("**/[!a].py", "src/deep/b.py"),
        ("*/?.py", "src/a.py"),
    ],
)
def test_patterns_with_directories_match_the_whole_path(pattern: str, found: str, reading: ReadingTools) -> None:
    assert reading.list_files(pattern=pattern) == found


@pytest.mark.skipif(os.name == "nt", reason="such names cannot be had there")
def test_a_name_is_one_line_whatever_is_in_it(root: Path, reading: ReadingTools) -> None:
    (root / "odd").mkdir()
    (root / "odd" / "a\nb\x1b[2Jc").write_text("needle")
    (root / "odd" / "d\u202fe.txt").write_text("")
    assert reading.list_files("odd") == "odd/a\\nb\\x1b[2Jc\nodd/d\u202fe.txt"
    assert reading.search_text("needle", "odd") == "odd/a\\nb\\x1b[2Jc:1: needle"


def test_a_pattern_that_would_take_for_ever_does_not(root: Path, reading: ReadingTools) -> None:
    (root / ("a" * 200)).write_text("")
    assert reading.list_files(pattern="**/" * 30 + "*a" * 30 + "b").startswith("(no entries")


def test_a_long_list_is_bounded(root: Path, reading: ReadingTools) -> None:
    (root / "many").mkdir()
    for number in range(1_050):
        (root / "many" / f"{number}").touch()
    lines = reading.list_files("many").split("\n")
    assert len(lines) == 1_001
    assert lines[-1].startswith("[more than 1,000 entries")


def test_a_text_is_found_with_file_and_line(reading: ReadingTools) -> None:
    assert reading.search_text("needle").split("\n")[0] == "src/deep/b.py:1: needle = 'Hay'"
    assert "1 file]" in reading.search_text("needle")
    assert reading.search_text("y = 2", "src") == "src/a.py:2: y = 2"
    assert reading.search_text("y = 2", "src/a.py") == "src/a.py:2: y = 2"
    assert reading.search_text("hay", "src", ignore_case=True) == "src/deep/b.py:1: needle = 'Hay'"
    assert reading.search_text(r"^[xy] = \d$", "src", regex=True) == "src/a.py:1: x = 1\nsrc/a.py:2: y = 2"
    assert reading.search_text("x = 1", pattern="*.txt") == "(no match in 1 file)"
    assert reading.search_text("x.=", "src") == "(no match in 2 files)"
    with pytest.raises(ValueError, match="is not a regular expression"):
        reading.search_text("(", regex=True)
    with pytest.raises(ValueError, match="is empty"):
        reading.search_text("")


def test_matches_are_bounded(root: Path, reading: ReadingTools) -> None:
    (root / "hits.txt").write_text("hit " + "x" * 1_000 + "\n")
    (root / "more.txt").write_text("hit\n" * 1_000)
    lines = reading.search_text("hit", max_matches=5).split("\n")
    assert lines[5] == "[more than 5 matches; give a narrower path, pattern or text]"
    assert all(len(line) < 330 for line in lines)


def test_each_tool_says_what_it_does_first(root: Path) -> None:
    described = {made.name: made for made in builtin_tools("files", root)}
    assert described["count_words"].description == "Count the words in a file."
    assert described["read_file"].description == "Read a text file."
    effects = {name: made.effect for name, made in described.items()}
    assert effects == {
        "read_file": "reads",
        "write_file": "writes",
        "edit_file": "writes",
        "list_files": "reads",
        "search_text": "reads",
        "count_words": "reads",
    }
    for made in described.values():
        assert all(described.get("description") for described in made.parameters["properties"].values())
