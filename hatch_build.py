"""How hookagent is built: the folders under plugins/ are packed with the core, unless a switch says not to.

Each plugin folder is a complete project with a pyproject.toml of its own. Two hooks of the build backend read those
files: one takes over their entry points, the other their packages, so that `pip install` of a checkout gives the core
and every plugin, found by entry point like anybody's. With HOOKAGENT_CORE_ONLY=1 in the environment the build leaves
the plugins out; the plugin folders are tested against a wheel built that way.
"""

from __future__ import annotations

import os
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

CORE_ONLY = "HOOKAGENT_CORE_ONLY"
EDITABLE_PATHS = "_hookagent_plugins.pth"


def core_only() -> bool:
    """Tell whether this build leaves the plugins out; a switch that is neither 0, 1 nor empty is an error."""
    value = os.environ.get(CORE_ONLY, "")
    if value not in {"", "0", "1"}:
        raise ValueError(f"{CORE_ONLY}: {value!r} is not 0 or 1; set it to 1 to leave the plugins out")
    return value == "1"


def plugin_folders(root: Path) -> list[Path]:
    """Return the plugin folders of this checkout, by name: those with a pyproject.toml under plugins/."""
    return sorted(path.parent for path in root.glob("plugins/hookagent-*/pyproject.toml"))


def plugin_package(folder: Path) -> Path:
    """Return the import package of a plugin folder: hookagent-tool-logging holds hookagent_tool_logging."""
    package = folder / folder.name.replace("-", "_")
    if not (package / "__init__.py").is_file():
        raise FileNotFoundError(f"{folder.name}: has no {package.name}/__init__.py; add it, or remove the folder")
    return package


def plugin_entry_points(folders: list[Path]) -> dict[str, dict[str, str]]:
    """Collect the entry points of all plugin folders, by group and name; a name given twice is an error."""
    groups: dict[str, dict[str, str]] = {}
    for folder in folders:
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        for group, names in project.get("entry-points", {}).items():
            for name, target in names.items():
                if name in groups.setdefault(group, {}):
                    raise ValueError(f"{folder.name}: entry point {name!r} in {group!r} is taken; rename it")
                groups[group][name] = target
    return groups


class PluginEntryPoints(MetadataHookInterface):
    """Gives the root distribution the entry points of the plugins that it packs."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the project's entry points; see the build backend's reference of metadata hooks."""
        folders = [] if core_only() else plugin_folders(Path(self.root))
        metadata["entry-points"] = plugin_entry_points(folders)


class PluginPackages(BuildHookInterface[Any]):
    """Gives the root wheel the packages of the plugins; an editable one gets the paths that lead to them."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add to what is packed; `version` is "standard" or "editable", see the build backend's reference."""
        packages = [] if core_only() else [plugin_package(folder) for folder in plugin_folders(Path(self.root))]
        if not packages:
            return
        if version == "editable":
            self._paths_folder = tempfile.TemporaryDirectory(prefix="hookagent-build-")
            paths = Path(self._paths_folder.name, EDITABLE_PATHS)
            paths.write_text("".join(f"{package.parent}\n" for package in packages), encoding="utf-8")
            build_data["force_include_editable"][str(paths)] = EDITABLE_PATHS
        else:
            for package in packages:
                build_data["force_include"][str(package)] = package.name

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was written only to be packed."""
        if hasattr(self, "_paths_folder"):
            self._paths_folder.cleanup()
