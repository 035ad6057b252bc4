"""What the build takes over from the plugin folders, and when it refuses."""

from pathlib import Path

import pytest

from hatch_build import CORE_ONLY, PluginEntryPoints, core_only, plugin_entry_points, plugin_folders, plugin_package


def add_plugin(root: Path, name: str, entry_points: str, *, package: bool = True) -> Path:
    folder = root / "plugins" / name
    folder.mkdir(parents=True)
    (folder / "pyproject.toml").write_text(f'[project]\nname = "{name}"\n{entry_points}', encoding="utf-8")
    if package:
        inside = folder / name.replace("-", "_")
        inside.mkdir()
        (inside / "__init__.py").touch()
    return folder


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    add_plugin(tmp_path, "hookagent-b", '[project.entry-points.hookagent]\nb = "hookagent_b:B"\n')
    add_plugin(tmp_path, "hookagent-a", '[project.entry-points."hookagent.providers"]\na = "hookagent_a:A"\n')
    (tmp_path / "plugins" / "hookagent-notes").mkdir()
    return tmp_path


def test_entry_points_come_from_the_folders(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(CORE_ONLY, raising=False)
    metadata: dict[str, object] = {}

    PluginEntryPoints(str(checkout), {}).update(metadata)

    assert metadata == {
        "entry-points": {"hookagent": {"b": "hookagent_b:B"}, "hookagent.providers": {"a": "hookagent_a:A"}}
    }


def test_the_switch_leaves_them_out(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CORE_ONLY, "1")
    metadata: dict[str, object] = {}

    PluginEntryPoints(str(checkout), {}).update(metadata)

    assert metadata == {"entry-points": {}}


def test_a_switch_that_is_neither_on_nor_off_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CORE_ONLY, "yes")

    with pytest.raises(ValueError, match="HOOKAGENT_CORE_ONLY: 'yes' is not 0 or 1"):
        core_only()


def test_a_checkout_without_plugins_has_none(tmp_path: Path) -> None:
    assert plugin_folders(tmp_path) == []


def test_two_plugins_with_one_name_are_refused(checkout: Path) -> None:
    add_plugin(checkout, "hookagent-c", '[project.entry-points.hookagent]\nb = "hookagent_c:C"\n')

    with pytest.raises(ValueError, match="hookagent-c: entry point 'b' in 'hookagent' is taken"):
        plugin_entry_points(plugin_folders(checkout))


def test_a_folder_without_its_package_is_refused(checkout: Path) -> None:
    folder = add_plugin(checkout, "hookagent-empty", "", package=False)

    with pytest.raises(FileNotFoundError, match=r"hookagent-empty: has no hookagent_empty/__init__\.py"):
        plugin_package(folder)
