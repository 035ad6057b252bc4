from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import command, folder, home, script, site

__all__ = ["command", "folder", "home", "script", "site"]


@pytest.fixture(autouse=True)
def _no_accounts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing of the developer's own accounts, proxies or files may reach these tests."""
    for vendor in ("ANTHROPIC", "OPENAI"):
        for name in ("API_KEY", "AUTH_TOKEN", "BASE_URL", "ORG_ID", "PROJECT_ID", "CUSTOM_HEADERS", "PROFILE"):
            monkeypatch.delenv(f"{vendor}_{name}", raising=False)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.delenv("ANTHROPIC_CONFIG_DIR", raising=False)
    monkeypatch.delenv("HOOKAGENT_PLUGINS", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HOOKAGENT_HOME", str(tmp_path / "hookagent-home"))
