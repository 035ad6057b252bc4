"""Every block of the README and of the written pages of docs/ runs, and prints what the page says."""

from __future__ import annotations

from collections import Counter
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tests.docs.evaluation import BlockFailure, PageRun
from tests.docs.pages import ROOT, Block, blocks, written_pages

LEAST_SHARE = 0.95
PLUGINS = {"context-window", "human-approval", "reflection", "tool-logging"}


def test_hookagent_is_installed_with_its_plugins() -> None:
    found = {entry.name for entry in entry_points(group="hookagent")}

    assert found >= PLUGINS, "the pages name plugins; install the checkout first: pip install -e '.[dev]'"


@pytest.mark.parametrize("page", written_pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_of_a_page_runs(page: Path, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    run = PageRun(folder, page.read_text(encoding="utf-8"))
    for block in blocks(page):
        if block.skip is None:
            run.run(block)


def test_nearly_all_blocks_run_and_the_others_say_why_not(capsys: pytest.CaptureFixture[str]) -> None:
    every = [block for page in written_pages() for block in blocks(page) if block.language]
    skipped = [block for block in every if block.skip is not None]
    with capsys.disabled():
        print(f"\ndocs: {len(every)} blocks: {len(every) - len(skipped)} run, {len(skipped)} skipped")
        for reason, count in Counter(block.skip for block in skipped).most_common():
            print(f"docs: skipped {count}: {reason}")

    assert len(every) - len(skipped) >= LEAST_SHARE * len(every)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "1 / 0\n"),
        ("console", "$ echo one\ntwo\n"),
        ("console", "$ exit 3\n$ echo never\nreached\n"),
        ("yaml", "limits: {max_iteratons: 3}\n"),
        ("yaml", "plugins: [{tool-logging: {levle: info}}]\n"),
        ("json", "{,}\n"),
        ("toml", "a = \n"),
        ("text", "printed by nobody\n"),
        ("fortran", "no way to run it\n"),
    ],
)
def test_a_block_that_does_not_do_what_it_says_is_found(language: str, text: str, tmp_path: Path) -> None:
    block = Block(ROOT / "README.md", 7, language, text)

    with pytest.raises(BlockFailure, match=r"README\.md:7"):
        PageRun(tmp_path, "").run(block)


def test_output_below_a_python_block_is_compared(tmp_path: Path) -> None:
    run = PageRun(tmp_path, "")
    run.run(Block(ROOT / "README.md", 1, "python", "print('one 2 three')\n"))
    with pytest.raises(BlockFailure, match="expected"):
        run.run(Block(ROOT / "README.md", 4, "text", "one ... four\n"))


def test_the_namespace_and_the_folder_are_shared_by_the_blocks_of_a_page(tmp_path: Path) -> None:
    run = PageRun(tmp_path, "")
    run.run(Block(ROOT / "README.md", 1, "text", "value = 3\n", file="shared.py"))
    run.run(Block(ROOT / "README.md", 4, "python", "from shared import value\n"))
    run.run(Block(ROOT / "README.md", 8, "python", "print(value)\n"))
    run.run(Block(ROOT / "README.md", 9, "text", "3\n"))
    run.run(Block(ROOT / "README.md", 9, "console", "$ cat shared.py\nvalue = 3\n$ false\n$ echo $?\n1\n"))
