import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hookagent.tools.builtin.confined import Root
from hookagent.tools.builtin.reading import ReadingTools
from hookagent.tools.builtin.writing import WritingTools

ESCAPES = [
    "../outside/secret.txt",
    "src/../../outside/secret.txt",
    "link-out",
    "dir-out/secret.txt",
    "dir-out/../outside/secret.txt",
    "dangling",
    "/etc/passwd",
    "..",
    "../inside-too/x",
    "~/../../../../../../etc/passwd",
]


@pytest.mark.parametrize("path", ESCAPES)
def test_no_path_leads_outside(path: str, root: Path, reading: ReadingTools, writing: WritingTools) -> None:
    before = sorted(str(found) for found in root.parent.rglob("*"))
    calls: tuple[Callable[[], str], ...] = (
        lambda: reading.read_file(path),
        lambda: reading.count_words(path),
        lambda: reading.list_files(path),
        lambda: reading.search_text("secret", path),
        lambda: writing.write_file(path, "changed"),
        lambda: writing.edit_file(path, "secret", "changed"),
    )
    for call in calls:
        with pytest.raises((PermissionError, FileNotFoundError)) as caught:
            call()
        assert "secret" not in str(caught.value).replace(path, "")
    assert sorted(str(found) for found in root.parent.rglob("*")) == before
    assert (root.parent / "outside" / "secret.txt").read_text() == "secret"


PIECES = st.sampled_from(
    ["..", ".", "src", "a.py", "link-out", "dir-out", "dangling", "loop", "secret.txt", "", "/", "~"]
)


@given(path=st.lists(PIECES, max_size=6).map("/".join) | st.text(max_size=20))
@example(path="loop/../link-out")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_path_is_refused_or_stays_inside(root: Path, path: str) -> None:
    confined = Root(root)
    try:
        parts = confined.parts(path)
    except (PermissionError, ValueError):
        return
    assert Path(os.path.realpath(confined.directory.joinpath(*parts))).is_relative_to(confined.directory)
    assert ".." not in parts
    try:
        with confined.file_fd(parts) as descriptor:
            assert os.read(descriptor, 100) != b"secret"
    except (OSError, ValueError):
        return


def test_a_link_that_is_swapped_in_after_the_check_is_not_followed(root: Path) -> None:
    confined = Root(root)
    parts = confined.parts("src/a.py")
    (root / "src").rename(root / "moved")
    (root / "src").symlink_to(root.parent / "outside")
    (root.parent / "outside" / "a.py").write_text("secret")
    with pytest.raises(OSError, match=r"src"), confined.file_fd(parts):
        pass
    with pytest.raises(OSError, match=r"src"):
        confined.write(parts, b"changed")
    assert (root.parent / "outside" / "a.py").read_text() == "secret"


def test_a_file_that_is_swapped_for_a_link_is_not_followed(root: Path) -> None:
    confined = Root(root)
    parts = confined.parts("notes.txt")
    (root / "notes.txt").unlink()
    (root / "notes.txt").symlink_to(root.parent / "outside" / "secret.txt")
    with pytest.raises(OSError, match=r"notes\.txt"), confined.file_fd(parts):
        pass
    with pytest.raises(OSError, match=r"notes\.txt"):
        confined.write(parts, b"changed")
    assert (root.parent / "outside" / "secret.txt").read_text() == "secret"


def test_links_inside_are_followed_and_absolute_paths_inside_are_fine(
    root: Path, reading: ReadingTools, writing: WritingTools
) -> None:
    assert reading.read_file("link-in") == "one two\nthree\n"
    assert reading.read_file(str(root / "notes.txt")) == "one two\nthree\n"
    writing.write_file("link-in", "changed")
    assert (root / "link-in").is_symlink()
    assert (root / "notes.txt").read_text() == "changed"


def test_a_root_that_is_itself_a_link_works(root: Path, tmp_path: Path) -> None:
    (tmp_path / "linked").symlink_to(root)
    assert ReadingTools(Root(tmp_path / "linked")).count_words("notes.txt").startswith("notes.txt: 3 words")
