import sys
from pathlib import Path

import pytest

from hookagent.errors import ConfigurationError, ToolDefinitionError
from hookagent.tools.builtin import BUILTIN_SETS, builtin_names, builtin_tools, resolve_tools
from hookagent.tools.tool import Tool


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "ownpack").mkdir()
    (tmp_path / "ownpack" / "__init__.py").write_text("")
    (tmp_path / "ownpack" / "tools.py").write_text(
        "def search(q: str) -> str:\n    'Search.'\n    return q\n\n\nclass Box:\n"
        "    def look(self) -> str:\n        return ''\n\n\nbox = Box()\nnumber = 3\n"
        "def read_file(p: str) -> str:\n    return p\n"
    )
    (tmp_path / "ownpack" / "broken.py").write_text("1 / 0\n")
    (tmp_path / "ownpack" / "needs.py").write_text("import not_installed_anywhere\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.startswith("ownpack")]:
        monkeypatch.delitem(sys.modules, name)
    return tmp_path


@pytest.mark.parametrize("name", builtin_names())
def test_every_name_gives_its_tools(name: str, tmp_path: Path) -> None:
    assert [made.name for made in builtin_tools(name, tmp_path)] == list(BUILTIN_SETS.get(name, (name,)))


def test_the_same_root_gives_the_same_tools(tmp_path: Path) -> None:
    assert builtin_tools("files", tmp_path)[0] is builtin_tools("read_file", tmp_path)[0]


def test_the_default_root_is_the_working_directory_of_the_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt").write_text("one two")
    monkeypatch.chdir(tmp_path)
    (made,) = builtin_tools("count_words")
    assert made.function(path="a.txt") == "a.txt: 2 words, 1 line, 7 characters"


def test_a_list_of_names_is_resolved_in_order_and_each_once(package: Path) -> None:
    plugin_tool = Tool.from_callable(lambda: "", name="from_plugin")
    made = resolve_tools(
        ["shell", "files", "read_file", "ownpack.tools:search", "ownpack.tools:box.look", "from_plugin"],
        package,
        {"from_plugin": plugin_tool},
    )
    assert [each.name for each in made] == ["shell", *BUILTIN_SETS["files"], "search", "look", "from_plugin"]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("filez", "unknown tool or set 'filez'; did you mean 'files'?"),
        ("cuont_words", "did you mean 'count_words'?"),
        ("quux", "there are: files, shell, read_file"),
        ("ownpack.tools.search", "'ownpack.tools:search'"),
        ("ownpack.tools:", "half of it is missing"),
        (":search", "half of it is missing"),
        ("ownpack.tools:serch", "'serch' is not in 'ownpack.tools'; did you mean 'search'?"),
        ("ownpack.tols:search", "there is no module 'ownpack.tols'"),
        ("nopack.tools:search", "there is no module 'nopack'"),
        ("ownpack.needs:x", "its module needs 'not_installed_anywhere'"),
        ("ownpack.broken:x", "importing 'ownpack.broken' failed: ZeroDivisionError: division by zero"),
        ("ownpack.tools:Box", "a class was given"),
        ("ownpack.tools:box", "cannot be called"),
        ("ownpack.tools:number", "cannot be called"),
    ],
)
def test_a_name_that_is_none_is_refused_with_a_hint(name: str, says: str, package: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        resolve_tools([name], package)
    assert says in str(caught.value)


def test_two_things_of_one_name_are_refused_naming_both(package: Path) -> None:
    with pytest.raises(ToolDefinitionError) as caught:
        resolve_tools(["files", "ownpack.tools:read_file"], package)
    assert "ReadingTools.read_file" in str(caught.value)
    assert "ownpack.tools.read_file" in str(caught.value)


def test_unknown_built_in_names_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="unknown built-in tool or set 'x'"):
        builtin_tools("x")
