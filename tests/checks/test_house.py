"""The house rules find what they exist for."""

from pathlib import Path

import pytest

from checks.house import house_problems


def problems_of(tmp_path: Path, text: str) -> list[tuple[int, str]]:
    (tmp_path / "hookagent").mkdir()
    (tmp_path / "hookagent" / "one.py").write_text(text, encoding="utf-8")
    return [(line, problem) for _, line, problem in house_problems(tmp_path)]


@pytest.mark.parametrize(
    "comment",
    [
        "# pragma: no cover",
        "# pragma: no branch",
        "#pragma no cover",
        "# PRAGMA: NO COVER - loud",
        "# pragma: no cover -",
        "# pragma: no cover: Windows only",
    ],
)
def test_a_pragma_without_a_reason_is_named(tmp_path: Path, comment: str) -> None:
    [(line, problem)] = problems_of(tmp_path, f"one = 1\ntwo = 2  {comment}\n")
    assert line == 2
    assert problem == "the pragma has no reason, so it excludes nothing; write '# pragma: no cover - REASON'"


def test_a_pragma_with_a_reason_is_fine_and_so_is_a_text_about_pragmas(tmp_path: Path) -> None:
    text = 'if one:  # pragma: no branch - always one\n    one = "# pragma: no cover"\n'
    assert problems_of(tmp_path, text) == []
