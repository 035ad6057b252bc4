"""YAML text to plain values that remember where they stand.

PyYAML scans and composes; the tree is then turned into values here, by the rules of the design ("The outside
contract", YAML): keys are text, a key stands once, only `true` and `false` are booleans, merge keys work, tags
that make objects do not exist. The tree is bounded while it grows, so that no alias can blow it up.
"""

from __future__ import annotations

from typing import Any

import yaml
from yaml.composer import Composer
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.resolver import BaseResolver
from yaml.scanner import Scanner

from hookagent.config.positions import Document, KeyPath, Positions
from hookagent.config.problems import ConfigError, ConfigProblem, Place, fail
from hookagent.config.scalars import resolve_scalar
from hookagent.config.source import DEEPEST, LINE_END, MOST_NODES
from hookagent.config.yaml_errors import explain

_PLAIN = "plain"
_STANDARD = "tag:yaml.org,2002:"
_SCALAR_TAGS: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "null": (type(None),),
}
_MERGE = "<<"


def parse_yaml(text: str, file: str) -> Document:
    """Parse a configuration; `file` is its name in errors.

    An empty text, one of comments only, and `null` are an empty configuration. Faults that leave the rest
    readable (a key given twice) are listed in the result's `problems`. Raises `ConfigError` for what is not YAML,
    is not a mapping, or is too large: more than 20,000 values after the aliases, or nested deeper than 50.
    """
    builder = _Builder(file)
    value = builder.value(_compose(text, Place(file), in_file=True), ())
    if value is None:
        value = {}
    if not isinstance(value, dict):
        found = "a list" if isinstance(value, list) else "a single value"
        place = builder.document.positions.value(())
        raise ConfigError([*builder.document.problems, ConfigProblem.at(place, f"mapping expected, found {found}")])
    builder.document.data = value
    return builder.document


def parse_value(text: str, place: Place) -> tuple[Any, list[ConfigProblem], set[KeyPath]]:
    """Parse one value given outside a file, as `-o` does, by the same rules; everything in it stands at `place`.

    Returns the value, its problems, and the paths in it at which nothing was written. Raises `ConfigError` as
    `parse_yaml` does.
    """
    builder = _Builder(place.file, place)
    value = builder.value(_compose(text, place, in_file=False), ())
    return value, builder.document.problems, builder.document.empty


class _TooLarge(Exception):
    def __init__(self, message: str, mark: yaml.Mark) -> None:
        self.message = message
        self.mark = mark


class _Loader(Reader, Scanner, Parser, Composer, BaseResolver):
    """Composes nodes; counts what they hold, aliases included, before anybody walks them."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)
        Composer.__init__(self)
        BaseResolver.__init__(self)
        self._sizes: dict[int, tuple[int, int]] = {}
        self._depth = 0
        self._count = 0

    def resolve(self, kind: Any, value: Any, implicit: Any) -> str:
        # Unquoted scalars are told from quoted ones here, and resolved by our own rules later.
        if kind is yaml.ScalarNode and implicit[0]:
            return _PLAIN
        return str(super().resolve(kind, value, implicit))  # type: ignore[no-untyped-call]

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node:
        mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
        self._depth += 1
        self._count += 1
        if self._count > MOST_NODES:
            raise _TooLarge(f"more than {MOST_NODES:,} values; shorten the configuration", mark)
        if self._depth > DEEPEST:
            raise _TooLarge(f"nested deeper than {DEEPEST} levels; flatten it", mark)
        node = super().compose_node(parent, index)
        assert node is not None
        self._depth -= 1
        if id(node) not in self._sizes:
            # An alias to a node that is not complete yet: the node holds itself.
            if self._is_open(node):
                raise _TooLarge("an alias refers to the value that holds it; write the value out", mark)
            self._sizes[id(node)] = self._measure(node)
        size, height = self._sizes[id(node)]
        if size > MOST_NODES:
            raise _TooLarge(
                f"more than {MOST_NODES:,} values once its aliases are written out; use fewer aliases", mark
            )
        if self._depth + height > DEEPEST:
            raise _TooLarge(
                f"nested deeper than {DEEPEST} levels once its aliases are written out; use fewer aliases", mark
            )
        return node

    def _is_open(self, node: yaml.Node) -> bool:
        return isinstance(node, yaml.CollectionNode) and node.end_mark is None

    def _measure(self, node: yaml.Node) -> tuple[int, int]:
        if isinstance(node, yaml.MappingNode):
            children = [self._sizes[id(child)] for pair in node.value for child in pair]
        elif isinstance(node, yaml.SequenceNode):
            children = [self._sizes[id(child)] for child in node.value]
        else:
            children = []
        return 1 + sum(size for size, _ in children), 1 + max((height for _, height in children), default=0)


def _compose(text: str, place: Place, *, in_file: bool) -> yaml.Node | None:
    def at(mark: yaml.Mark) -> Place:
        return Place(place.file, mark.line + 1, mark.column + 1) if in_file else place

    loader: _Loader | None = None
    try:
        loader = _Loader(text)
        return loader.get_single_node()
    except _TooLarge as error:
        raise fail(at(error.mark), error.message) from None
    except yaml.reader.ReaderError as error:
        before = LINE_END.split(text[: error.position])
        where = Place(place.file, len(before), len(before[-1]) + 1) if in_file else place
        raise fail(where, "a character that cannot stand in YAML; remove it") from None
    except yaml.YAMLError as error:
        where, message = explain(error, place.file, text)
        raise fail(where if in_file else place, message) from None
    except (ValueError, OverflowError):
        # PyYAML converts escapes such as "\UFFFFFFFF" and long version numbers without a check.
        where = at(loader.get_mark()) if loader is not None else place
        raise fail(where, "an escape or a number that stands for nothing; correct or remove it") from None


class _Builder:
    """Turns nodes into values; everything stands at one `fixed` place where that is given."""

    def __init__(self, file: str, fixed: Place | None = None) -> None:
        self._file = file
        self._fixed = fixed
        self.document = Document({}, Positions())

    def value(self, node: yaml.Node | None, path: KeyPath) -> Any:
        if node is None:
            self.document.positions.record(path, self._fixed or Place(self._file), self._fixed or Place(self._file))
            self.document.empty.add(path)
            return None
        place = self._place(node)
        if path not in self.document.positions.values:
            self.document.positions.record(path, place, place)
        if isinstance(node, yaml.MappingNode):
            self._refuse_tag(node, "map", place, path)
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            self._refuse_tag(node, "seq", place, path)
            return [self.value(child, (*path, index)) for index, child in enumerate(node.value)]
        return self._scalar(node, place, path)

    def _scalar(self, node: yaml.Node, place: Place, path: KeyPath) -> Any:
        text: str = node.value
        if any(character == "\0" or "\ud800" <= character <= "\udfff" for character in text):
            self._report(path, place, "an escape stands for no character (NUL or half a pair); remove it")
            return ""
        if node.tag == _PLAIN:
            if not text:
                self.document.empty.add(path)
            return resolve_scalar(text)
        if node.tag == f"{_STANDARD}str":
            return text
        kind = node.tag.removeprefix(_STANDARD)
        resolved = resolve_scalar(text)
        if kind in _SCALAR_TAGS and type(resolved) in _SCALAR_TAGS[kind]:
            return resolved
        self._report(path, place, "a '!' tag that is not supported here; put text that starts with '!' in quotes")
        return text

    def _mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, Any]:
        result: dict[str, Any] = {}
        first_places: dict[str, Place] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self._report(path, self._place(key_node), "a key must be text, found a list or a mapping")
                continue
            key = "".join("\ufffd" if "\ud800" <= part <= "\udfff" else part for part in key_node.value)
            merged = key_node.tag == _PLAIN and key == _MERGE
            place = self._place(key_node)
            if key in first_places:
                first = first_places[key]
                label = self.document.positions.label((*path, key))
                earlier = f"first given on line {first.line}" if first.line else "given twice"
                self._report((*path, key), place, f"duplicate key '{label}'; {earlier}; remove one of them")
                continue
            first_places[key] = place
            if not merged:
                self.document.positions.record((*path, key), place, self._place(value_node))
                result[key] = self.value(value_node, (*path, key))
        self._merge(node, path, result)
        return result

    def _merge(self, node: yaml.MappingNode, path: KeyPath, result: dict[str, Any]) -> None:
        for key_node, value_node in node.value:
            if not (key_node.tag == _PLAIN and key_node.value == _MERGE):
                continue
            sources = value_node.value if isinstance(value_node, yaml.SequenceNode) else [value_node]
            for source in sources:
                if not isinstance(source, yaml.MappingNode):
                    self._report(path, self._place(source), "'<<' merges mappings only; write '<<: *name'")
                    continue
                inner = _Builder(self._file, self._fixed)
                merged = inner.value(source, path)
                self.document.problems += inner.document.problems
                self.document.broken |= inner.document.broken
                added = {key: child for key, child in merged.items() if key not in result}
                self.document.empty |= {known for known in inner.document.empty if known[len(path)] in added}
                result.update(added)
                for known, place in inner.document.positions.values.items():
                    if len(known) > len(path) and known[len(path)] in added:
                        self.document.positions.record(known, inner.document.positions.keys[known], place)

    def _place(self, node: yaml.Node) -> Place:
        return self._fixed or Place(self._file, node.start_mark.line + 1, node.start_mark.column + 1)

    def _refuse_tag(self, node: yaml.Node, kind: str, place: Place, path: KeyPath) -> None:
        if node.tag != f"{_STANDARD}{kind}":
            self._report(path, place, "a '!' tag that is not supported here; remove it")

    def _report(self, path: KeyPath, place: Place, message: str) -> None:
        self.document.problems.append(ConfigProblem.at(place, message))
        self.document.broken.add(path)
