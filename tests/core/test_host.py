"""Loading plugins one by one: what is wrong with one is said with its name, version, reason and remedy."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from hookagent import Agent, ConfigurationError, PluginEntry, PluginLoadError, discovery, hookimpl
from hookagent.host import FunctionPlugin, load_plugins
from hookagent.registering import hook_table
from tests.core.plugin_making import hook, plugin_with

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Put distributions with entry points and modules on the path, as pip would."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)

    def put(distribution: str, entry_points: str, version: str = "1.0", **modules: str) -> None:
        folder = tmp_path / f"{distribution.replace('-', '_')}-{version}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
        (folder / "entry_points.txt").write_text(f"[hookagent]\n{entry_points}\n")
        for name, text in modules.items():
            (tmp_path / f"{name}.py").write_text(text)
        discovery.installed.cache_clear()

    yield put
    discovery.installed.cache_clear()
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and str(tmp_path) in str(sys.modules[name].__file__):
            del sys.modules[name]


GOOD = "from hookagent import hookimpl\n@hookimpl\ndef before_llm(): return None\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import nothing_like_it", "ModuleNotFoundError: No module named 'nothing_like_it'"),
        ("def broken(:", "SyntaxError: invalid syntax"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("raise ImportError('needs hookagent>=9')", "ImportError: needs hookagent>=9"),
        ("class Odd(Exception):\n    def __str__(self): raise ValueError\nraise Odd", "Odd: its text form raised"),
    ],
)
def test_a_plugin_that_cannot_be_imported_is_named_with_version_and_reason(
    install: Install, text: str, reason: str
) -> None:
    install("hookagent-odd", "odd = odd_plugin", "2.1", odd_plugin=text)
    with pytest.raises(PluginLoadError) as raised:
        load_plugins(["odd"])
    assert str(raised.value).startswith("plugin 'odd' (hookagent-odd 2.1): cannot be imported from 'odd_plugin': ")
    assert reason in str(raised.value)


def test_a_module_and_an_attribute_that_are_not_there_are_named(install: Install) -> None:
    install("hookagent-gone", "gone = no_such_module\nhalf = half_plugin:Missing", half_plugin=GOOD)
    with pytest.raises(PluginLoadError, match=r"\(hookagent-gone 1.0\): .*No module named 'no_such_module'"):
        load_plugins(["gone"])
    with pytest.raises(PluginLoadError, match="AttributeError: module 'half_plugin' has no attribute 'Missing'"):
        load_plugins(["half"])


def test_two_distributions_of_one_name_are_both_named(install: Install) -> None:
    install("hookagent-one", "same = one_plugin", one_plugin=GOOD)
    install("hookagent-two", "same = two_plugin", "3.0", two_plugin=GOOD)
    with pytest.raises(PluginLoadError) as raised:
        load_plugins(["same"])
    assert "offered by hookagent-one 1.0 and hookagent-two 3.0; uninstall one" in str(raised.value)
    assert {"one_plugin", "two_plugin"}.isdisjoint(sys.modules)


def test_what_is_installed_but_not_named_is_never_imported(install: Install) -> None:
    canary = "import sys\nsys.canary_sang = True\n" + GOOD
    install("hookagent-canary", "canary = canary_plugin", canary_plugin=canary)
    install("hookagent-good", "good = good_plugin", good_plugin=GOOD)
    agent = Agent(plugins=["good"])
    assert [(one.name, one.distribution) for one in agent.plugins] == [("good", "hookagent-good 1.0")]
    assert "canary_plugin" not in sys.modules
    assert not hasattr(sys, "canary_sang")
    assert "canary" in [one.name for one in discovery.installed()]


def test_one_broken_distribution_does_not_hide_the_others(install: Install, tmp_path: Path) -> None:
    install("hookagent-good", "good = good_plugin", good_plugin=GOOD)
    install("hookagent-broken", "no equals sign here")
    nameless = tmp_path / "nameless-1.0.dist-info"
    nameless.mkdir()
    (nameless / "entry_points.txt").write_text("[hookagent]\nnameless = good_plugin\n")
    (nameless / "METADATA").write_text("Metadata-Version: 2.1\n")
    discovery.installed.cache_clear()
    assert [one.name for one in load_plugins(["good"])] == ["good"]


def test_an_unknown_name_is_answered_with_the_likely_one_or_how_to_get_it(install: Install) -> None:
    install("hookagent-good", "good-plugin = good_plugin", good_plugin=GOOD)
    with pytest.raises(PluginLoadError, match="plugin 'good-plugn': no such plugin; did you mean 'good-plugin'"):
        load_plugins(["good-plugn"])
    with pytest.raises(PluginLoadError, match="is it installed\\? try: pip install hookagent-zzz"):
        load_plugins(["zzz"])


# ---- lists, options, forms of an entry ----


def test_a_plugin_is_named_once() -> None:
    one = plugin_with(before_llm=hook(lambda self: None))
    two = plugin_with(before_llm=hook(lambda self: None))
    with pytest.raises(PluginLoadError, match="plugin 'tested': is in the list twice; name it once"):
        Agent(plugins=[one, two])


WITH_OPTIONS = """
from hookagent import hookimpl
from pydantic import BaseModel
class Plugin:
    class Options(BaseModel):
        level: int = 3
    def __init__(self, options): self.options = options
    @hookimpl
    def before_llm(self): return None
"""


def test_options_are_validated_by_the_plugins_own_model(install: Install) -> None:
    install("hookagent-o", "o = o_plugin:Plugin\nbare = bare_plugin", o_plugin=WITH_OPTIONS, bare_plugin=GOOD)
    assert [one.plugin.options.level for one in load_plugins(["o"])] == [3]
    assert [one.plugin.options.level for one in load_plugins([{"o": {"level": "7"}}])] == [7]
    assert [one.plugin.options.level for one in load_plugins([PluginEntry("o", {"level": 1})])] == [1]
    with pytest.raises(PluginLoadError, match=r"plugin 'o' \(hookagent-o 1.0\): bad options: level: Input should be"):
        load_plugins([{"o": {"level": "high"}}])
    with pytest.raises(PluginLoadError, match=r"plugin 'bare' .*takes no options, but was given 'level'"):
        load_plugins([{"bare": {"level": 1}}])
    with pytest.raises(ConfigurationError, match="plugin 'o': its options are a list, not a mapping"):
        load_plugins([{"o": ["level"]}])
    with pytest.raises(ConfigurationError, match=r"expected {name: options}, got a mapping of 2 keys"):
        load_plugins([{"o": None, "bare": None}])


def test_a_plugin_whose_making_fails_is_named(install: Install) -> None:
    text = "class Plugin:\n    def __init__(self): raise OSError('no disk')\n"
    install("hookagent-f", "f = f_plugin:Plugin", f_plugin=text)
    with pytest.raises(PluginLoadError, match=r"plugin 'f' \(hookagent-f 1.0\): cannot be made: OSError: no disk"):
        load_plugins(["f"])


def test_an_object_takes_its_options_where_it_is_made() -> None:
    class Options(BaseModel):
        level: int = 3

    plugin = plugin_with(before_llm=hook(lambda self: None), Options=Options)
    with pytest.raises(ConfigurationError, match="is an object already; give its options where it is made"):
        load_plugins([PluginEntry(plugin, {"level": 1})])


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"on_error": "ignore"}, "on_error is 'ignore'; expected one of fail, warn, disable"),
        ({"time_limit": -1}, "its time limit is -1; expected seconds"),
        ({"time_limit": "60"}, "its time limit is '60'; expected seconds"),
    ],
)
def test_an_entry_that_says_nonsense_is_refused(entry: dict[str, Any], reason: str) -> None:
    plugin = plugin_with(before_llm=hook(lambda self: None))
    with pytest.raises(PluginLoadError, match=reason):
        load_plugins([PluginEntry(plugin, **entry)])


def test_functions_methods_modules_and_dotted_modules_are_plugins(install: Install) -> None:
    install("hookagent-good", "good = pack.good_plugin", good_plugin=GOOD)

    @hookimpl
    def before_llm() -> str:
        return "from a function"

    class Holder:
        @hookimpl
        def after_tools(self) -> None:
            return None

    module = types.ModuleType("made_here")
    module.before_tools = hookimpl(lambda tool_calls: None)  # type: ignore[attr-defined]
    loaded = load_plugins([before_llm, Holder().after_tools, module])
    assert [one.name.rpartition(".")[2] for one in loaded] == ["before_llm", "after_tools", "made_here"]
    assert isinstance(loaded[0].plugin, FunctionPlugin)
    table = hook_table(loaded)
    assert [len(table.before_llm), len(table.after_tools), len(table.before_tools)] == [1, 1, 1]


def test_a_dotted_module_is_imported_by_its_name(install: Install, tmp_path: Path) -> None:
    folder = tmp_path / "pack_of_plugins"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "good.py").write_text(GOOD)
    (folder / "bad.py").write_text("raise SystemExit(2)")
    assert [one.name for one in load_plugins(["pack_of_plugins.good"])] == ["pack_of_plugins.good"]
    with pytest.raises(PluginLoadError, match=r"'pack_of_plugins\.bad': the module cannot be imported: SystemExit: 2"):
        load_plugins(["pack_of_plugins.bad"])
    with pytest.raises(PluginLoadError, match=r"No module named 'pack_of_plugins\.none'"):
        load_plugins(["pack_of_plugins.none"])


def test_a_module_that_imported_a_hooks_name_from_elsewhere_is_not_blamed() -> None:
    module = types.ModuleType("importer")
    module.before_llm = plugin_with  # type: ignore[attr-defined]
    module.before_tools = hookimpl(lambda: None)  # type: ignore[attr-defined]
    assert len(load_plugins([module])) == 1
