"""A script's file: YAML to the plain values of its steps, with the line of each.

Importing this module loads no YAML reader; reading a file does.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hookagent.errors import ConfigurationError

if TYPE_CHECKING:
    import yaml

_KEYS = ("replies", "context_window")


def read_script(path: Path) -> tuple[list[Any], list[int], int | None]:
    """Return the steps of a script as plain values, the line of each, and its context window in tokens or None.

    Raises `ConfigurationError` naming the file, and the line where it is known, for what is not a script: a list of
    steps, or a mapping with `replies` and `context_window`.
    """
    import yaml

    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read: {(error.strerror or str(error)).lower()}") from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"{path}: not UTF-8 text") from None
    try:
        loader = yaml.SafeLoader(text)
        try:
            node = loader.get_single_node()
            if node is not None:
                _refuse_duplicate_keys(node, path)
            value = loader.construct_document(node) if node is not None else None
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark is not None else str(path)
        said = getattr(error, "problem", None) or str(error).partition("\n")[0]
        raise ConfigurationError(f"{where}: not YAML: {said}") from None
    except RecursionError:
        raise ConfigurationError(f"{path}: nested too deeply; flatten it") from None
    except ValueError as error:
        # A date that does not exist, or a number of thousands of digits.
        raise ConfigurationError(f"{path}: a value cannot be read: {error}; put it in quotes") from None
    return _parted(value, node, path)


def _parted(value: Any, node: yaml.Node | None, path: Path) -> tuple[list[Any], list[int], int | None]:
    import yaml

    window: int | None = None
    if isinstance(value, dict):
        for key in value:
            if key not in _KEYS:
                raise ConfigurationError(f"{path}: unknown key '{key}'; there are: {', '.join(_KEYS)}")
        window = value.get("context_window")
        if window is not None and (type(window) is not int or window < 1):
            raise ConfigurationError(f"{path}: 'context_window' is a number of tokens, not {window!r}")
        pairs = node.value if isinstance(node, yaml.MappingNode) else ()
        node = next((item for key, item in pairs if key.value == "replies"), None)
        value = value.get("replies")
    if not isinstance(value, list) or not isinstance(node, yaml.SequenceNode):
        raise ConfigurationError(f"{path}: a script is a list of steps, or a mapping with such a list as 'replies'")
    return value, [item.start_mark.line + 1 for item in node.value], window


def _refuse_duplicate_keys(root: yaml.Node, path: Path) -> None:
    """Raise for a key that stands twice in one mapping: the reader would take the last one without a word."""
    import yaml

    waiting, seen = [root], {id(root)}
    while waiting:
        node = waiting.pop()
        keys: set[str] = set()
        children: list[yaml.Node] = list(node.value) if isinstance(node, yaml.SequenceNode) else []
        for key, item in node.value if isinstance(node, yaml.MappingNode) else ():
            children.append(item)
            if isinstance(key, yaml.ScalarNode):
                if key.value in keys:
                    place = f"{path}:{key.start_mark.line + 1}:{key.start_mark.column + 1}"
                    raise ConfigurationError(f"{place}: duplicate key '{key.value}'; remove one of them")
                keys.add(key.value)
        new = [child for child in children if id(child) not in seen]
        seen.update(id(child) for child in new)
        waiting += new
