"""The reference pages are what the code makes of them, and everything public stands in them."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

from checks import reference
from checks.reference.__main__ import main
from checks.reference.hooks import read_docstring
from checks.reference.markdown import anchor, linked, signature, table
from checks.reference.model_fields import rows
from hookagent.config import Limits
from hookagent.contract import CONTRACTS
from tests.docs.pages import GENERATED, ROOT
from tests.docs.test_doc_links import anchors

DESIGN = ROOT / "docs" / "explanation" / "design.md"
_TOPIC = re.compile(r'design[,\s]+(?:\()?"(?P<topic>[^"]+)"')


@pytest.mark.parametrize("name", reference.page_names())
def test_a_reference_page_is_what_the_code_makes(name: str) -> None:
    written = (GENERATED / name).read_text(encoding="utf-8")

    assert written == reference.generate(name), "run: python -m checks.reference --write"


def test_no_page_lies_among_them_that_no_code_makes() -> None:
    assert {path.name for path in GENERATED.iterdir()} == set(reference.page_names())


def test_the_command_finds_stale_pages_and_mends_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reference, "FOLDER", tmp_path / "reference")

    assert main([]) == 1
    assert main(["--write"]) == 0
    assert main([]) == 0
    (tmp_path / "reference" / "hooks.md").write_text("# Hooks\n", encoding="utf-8")
    (tmp_path / "reference" / "other.md").write_text("made by nobody\n", encoding="utf-8")
    capsys.readouterr()
    assert main([]) == 1
    assert [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()] == [
        "docs/reference/hooks.md",
        "docs/reference/other.md",
    ]
    assert main(["--wriet"]) == 2


def test_every_hook_has_a_heading_of_its_own() -> None:
    assert set(CONTRACTS) <= anchors((GENERATED / "hooks.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("module", ["hookagent", "hookagent.testing", "hookagent.providers", "hookagent.config"])
def test_every_public_name_is_described(module: str) -> None:
    from hookagent.events import Event

    found = import_module(module)
    text = (GENERATED / "python.md").read_text(encoding="utf-8")
    events = {event.__name__ for event in Event.__args__}
    missing = [name for name in found.__all__ if f"### {module}.{name}\n" not in text and name not in events]

    assert missing == []


def test_every_topic_of_the_design_that_the_code_names_has_a_heading() -> None:
    known = anchors(DESIGN.read_text(encoding="utf-8"))
    missing = []
    for path in sorted([*(ROOT / "hookagent").rglob("*.py"), *(ROOT / "plugins").glob("*/hookagent_*/**/*.py")]):
        for found in _TOPIC.finditer(path.read_text(encoding="utf-8")):
            topic = re.sub(r"\s+", " ", found["topic"]).partition(",")[0]
            if anchor(topic) not in known:
                missing.append(f"{path.relative_to(ROOT)}: {topic}")

    assert missing == []


def test_a_docstring_without_its_five_parts_is_refused() -> None:
    with pytest.raises(ValueError, match="lacks Owns, Since"):
        read_docstring("Do it.\n\nFires: now.\nReturns: None.\nOrder: list order.")


def test_an_option_without_a_meaning_is_refused() -> None:
    with pytest.raises(ValueError, match="max_iterations"):
        list(rows(Limits, {}))
    with pytest.raises(ValueError, match="gone"):
        list(rows(Limits, {"max_iterations": "model calls", "gone": "no longer there"}))


def test_references_to_the_design_become_links() -> None:
    assert linked('so it is (design, "One call\'s way")') == (
        'so it is ([design, "One call\'s way"](../explanation/design.md#one-calls-way))'
    )


def test_a_signature_is_python() -> None:
    text = signature("generate", reference.generate)

    assert text == "generate(name: str) -> str"
    for page in reference.page_names():
        for block in re.findall(r"```python\n(.*?)\n```", (GENERATED / page).read_text(encoding="utf-8"), re.DOTALL):
            ast.parse(f"{re.sub('^class ', 'def ', block)}: ...")


def test_bars_and_line_breaks_do_not_break_a_table() -> None:
    assert table(["a"], [["one | two\nthree"]]).splitlines()[-1] == "| one \\| two three |"
