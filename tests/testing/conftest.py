from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the developer's own accounts or proxies may reach an SDK in these tests."""
    for vendor in ("ANTHROPIC", "OPENAI"):
        for name in ("API_KEY", "AUTH_TOKEN", "BASE_URL", "ORG_ID", "PROJECT_ID"):
            monkeypatch.delenv(f"{vendor}_{name}", raising=False)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def _at(body: Any, path: Sequence[Any]) -> Any:
    for step in path:
        body = body[step]
    return body


def _edited(body: dict[str, Any], edits: Sequence[tuple[str, Sequence[Any], Any]]) -> dict[str, Any]:
    for what, path, value in edits:
        place, key = _at(body, path[:-1]), path[-1]
        if what == "put":
            place[key] = copy.deepcopy(value)
        elif what == "drop":
            del place[key]
        elif what == "insert":
            place.insert(key, copy.deepcopy(value))
        elif what == "move":
            moved = _at(body, value[:-1]).pop(value[-1])
            _at(body, path[:-1]).insert(key, moved)
        else:
            raise ValueError(what)
    return body


@pytest.fixture
def edited() -> Callable[..., dict[str, Any]]:
    """Changes a request body in place by edits: (what, path, value), what being put, drop, insert or move."""
    return _edited
