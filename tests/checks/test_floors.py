"""The floors checker finds each fault it exists for, in a small tree that is right but for that fault."""

from pathlib import Path

import pytest

from checks.floors import main, problems

GOOD_TREE = {
    "hookagent/__init__.py": "def __getattr__(name):\n    from hookagent.agent import Agent\n\n    return Agent\n",
    "hookagent/messages.py": "from __future__ import annotations\nimport dataclasses\n",
    "hookagent/transcript.py": (
        "from typing import TYPE_CHECKING\nfrom hookagent.messages import Message\n"
        "if TYPE_CHECKING:\n    from hookagent.agent import Agent\n"
    ),
    "hookagent/markers.py": "import pluggy\n",
    "hookagent/hookspecs.py": "from hookagent.markers import hookspec\n",
    "hookagent/dispatch.py": "import pluggy\nfrom hookagent import transcript\n",
    "hookagent/tools/__init__.py": "from hookagent.tools.schema import schema\n",
    "hookagent/tools/schema.py": "def schema():\n    import pydantic\n\n    return pydantic\n",
    "hookagent/providers/anthropic.py": "import anthropic\nfrom ..messages import Message\n",
    "hookagent/config/__init__.py": "import yaml\n",
    "hookagent/loop.py": "import asyncio\nfrom hookagent.dispatch import call\nfrom hookagent.tools import schema\n",
    "hookagent/agent.py": "from hookagent.loop import run\nfrom hookagent.config import Config\n",
    "hookagent/cli/__init__.py": "def main():\n    import click\n    from hookagent import Agent\n",
    "hookagent/testing/__init__.py": "import pytest\nimport hookagent.testing.server\nfrom hookagent import Agent\n",
    "hookagent/testing/server.py": "import http.server\n",
    "plugins/hookagent-x/hookagent_x/__init__.py": "import hookagent_x.rules\nfrom hookagent import hookimpl\n",
    "plugins/hookagent-x/hookagent_x/rules.py": "import logging\n",
    "plugins/hookagent-x/tests/test_x.py": "from hookagent.testing import Server\nfrom hookagent_x import X\n",
    "tests/test_messages.py": "from hookagent.messages import Message\n",
}

# Each row: the file that goes wrong, its new text, and what the checker must say about it.
FAULTS = {
    "upwards": ("hookagent/messages.py", "from hookagent.loop import run\n", "values imports upwards: hookagent.loop"),
    "upwards, lazily": (
        "hookagent/loop.py",
        "def late():\n    from hookagent.agent import Agent\n",
        "loop imports upwards: hookagent.agent",
    ),
    "upwards, relatively": ("hookagent/tools/schema.py", "from ..loop import run\n", "tools imports upwards"),
    "upwards, as a name of the window": (
        "hookagent/dispatch.py",
        "from hookagent import loop\n",
        "host imports upwards: hookagent.loop",
    ),
    "upwards, in the else of a type check": (
        "hookagent/transcript.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    pass\nelse:\n    import hookagent.agent\n",
        "values imports upwards: hookagent.agent",
    ),
    "sideways": ("hookagent/config/__init__.py", "import hookagent.providers.anthropic\n", "config imports sideways"),
    "through the window": ("hookagent/loop.py", "from hookagent import Agent\n", "imports the window hookagent"),
    "no floor": ("hookagent/attic.py", "", "'attic' has no floor"),
    "imports what has no floor": ("hookagent/agent.py", "import hookagent.attic\n", "'attic' has no floor"),
    "core imports the kit": ("hookagent/agent.py", "import hookagent.testing\n", "imports the test kit"),
    "kit looks behind a window": (
        "hookagent/testing/server.py",
        "from hookagent.transcript import Transcript\n",
        "the test kit imports hookagent.transcript",
    ),
    "pluggy elsewhere": ("hookagent/agent.py", "import pluggy\n", "pluggy is imported outside host, markers"),
    "click elsewhere": ("hookagent/config/__init__.py", "import click\n", "click is imported outside cli"),
    "an SDK elsewhere": ("hookagent/agent.py", "import openai\n", "openai is imported outside providers"),
    "pydantic in the values": ("hookagent/messages.py", "import pydantic\n", "the values import pydantic"),
    "undeclared": ("hookagent/agent.py", "import requests\n", "requests is no dependency of the core"),
    "pytest outside the kit": ("hookagent/agent.py", "import pytest\n", "pytest is no dependency of the core"),
    "core imports a plugin": ("hookagent/agent.py", "import hookagent_x\n", "the core imports the plugin hookagent_x"),
    "loop imports pluggy": ("hookagent/loop.py", "import pluggy\n", "pluggy is imported outside"),
    "loop imports input and output": ("hookagent/loop.py", "from pathlib import Path\n", "the loop imports pathlib"),
    "loop prints": ("hookagent/loop.py", "def run():\n    print('on')\n", "the loop calls print()"),
    "plugin looks behind the window": (
        "plugins/hookagent-x/hookagent_x/rules.py",
        "from hookagent.messages import Message\n",
        "a plugin imports hookagent.messages",
    ),
    "plugin uses the test kit": (
        "plugins/hookagent-x/hookagent_x/rules.py",
        "import hookagent.testing\n",
        "a plugin imports hookagent.testing",
    ),
    "plugin knows another": (
        "plugins/hookagent-x/hookagent_x/rules.py",
        "import hookagent_y\n",
        "a plugin imports another plugin, hookagent_y",
    ),
    "plugin tests look behind the window": (
        "plugins/hookagent-x/tests/test_x.py",
        "import hookagent.loop\n",
        "a plugin imports hookagent.loop",
    ),
    "utils": ("hookagent/tools/utils.py", "", "'utils' names no job"),
    "too long": ("hookagent/agent.py", "x = 1\n" * 351, "the file has 351 lines"),
    "private name": ("hookagent/agent.py", "from hookagent.loop import _step\n", "_step is private to hookagent.loop"),
    "private name in a test": ("tests/test_messages.py", "from hookagent.loop import _a\n", "_a is private"),
    "private module": (
        "hookagent/agent.py",
        "import hookagent.tools._deep\n",
        "hookagent.tools._deep is a private module",
    ),
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in GOOD_TREE.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def test_a_tree_without_fault_passes(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert problems(tree) == []
    assert main([str(tree)]) == 0
    assert capsys.readouterr().out == "floors: every import runs downwards\n"


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_found_where_it_is(tree: Path, fault: str, capsys: pytest.CaptureFixture[str]) -> None:
    name, text, expected = FAULTS[fault]
    (tree / name).write_text(text, encoding="utf-8")

    found = problems(tree)

    assert [(path.relative_to(tree).as_posix(), expected in message) for path, _, message in found] == [(name, True)]
    assert main([str(tree)]) == 1
    assert f"{name}:{found[0][1]}: " in capsys.readouterr().out


def test_a_long_file_is_only_a_warning(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "hookagent/agent.py").write_text("x = 1\n" * 251, encoding="utf-8")

    assert main([str(tree)]) == 0
    assert "hookagent/agent.py:251: warning: the file has 251 lines" in capsys.readouterr().out


def test_a_private_module_is_open_to_its_own_package(tree: Path) -> None:
    (tree / "hookagent/tools/_deep.py").write_text("", encoding="utf-8")
    (tree / "hookagent/tools/schema.py").write_text(
        "import hookagent.tools._deep\nfrom . import _deep\n", encoding="utf-8"
    )

    assert problems(tree) == []
