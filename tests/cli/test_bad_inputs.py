"""Bad inputs, each with its exact message and exit code, and the proof that nothing was lost or changed.

The table is `bad_inputs.yaml`; what a model replies badly is in `test_bad_replies.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from hookagent.tools.builtin import builtin_tools

TABLE: dict[str, dict[str, dict[str, Any]]] = yaml.safe_load(
    Path(__file__).with_name("bad_inputs.yaml").read_text(encoding="utf-8")
)
ROWS = {f"{kind}: {name}": row for kind, rows in TABLE.items() for name, row in rows.items()}


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def place_of(tool: str) -> str:
    (made,) = builtin_tools(tool)
    return made.source.partition("(")[2].removesuffix(")")


@pytest.mark.parametrize("name", ROWS)
def test_what_cannot_be_used_is_said_exactly_and_gives_2(name: str, command: Any, site: Any, folder: Path) -> None:
    row = ROWS[name]
    (folder / "data.txt").write_text("what was here before")
    for key, file in (("yaml", "agent.yaml"), ("own_tools", "own_tools.py")):
        if key in row:
            text = row[key]
            (folder / file).write_bytes(text if isinstance(text, bytes) else text.encode())
    for plugin, text in row.get("plugins", {}).items():
        site.plugin(plugin, text)
    places = {"{here}": str(folder), "{site}": str(site.folder), "{read_file}": place_of("read_file")}
    expected = []
    for error in row["errors"]:
        for mark, place in places.items():
            error = error.replace(mark, place)
        expected.append(f"hookagent: error: {error}")
    before = contents(folder)
    got = command(*row["words"], stdin=None if row.get("stdin") == "closed" else row.get("piped", b""))
    assert got.err.splitlines() == expected
    assert (got.code, got.out) == (2, "")
    assert contents(folder) == before


def test_the_table_has_forty_rows_and_more() -> None:
    assert len(ROWS) >= 40
