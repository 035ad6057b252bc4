from pathlib import Path

from hookagent.testing import check_plugin


def test_the_plugin_keeps_the_contract(tmp_path: Path) -> None:
    check_plugin("tool-logging", {"file": str(tmp_path / "calls.jsonl"), "level": "debug"})
    assert (tmp_path / "calls.jsonl").read_text(encoding="utf-8").count('"event": "end"') > 50
