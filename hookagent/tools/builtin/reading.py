"""Tools that read files: read_file, list_files, search_text, count_words."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from hookagent.counting import counted
from hookagent.tools.builtin.confined import Root
from hookagent.tools.builtin.decoding import find_encoding, incremental_decoder
from hookagent.tools.builtin.patterns import path_filter
from hookagent.tools.tool import tool

_CHUNK = 65_536
_LONGEST_LINE = 20_000
_LONGEST_READ = 80_000
_LONGEST_MATCH = 300
_MOST_ENTRIES = 1_000
_MOST_FILES = 20_000
_LARGEST_SEARCHED = 20_000_000


class ReadingTools:
    """The tools that read below `root`."""

    def __init__(self, root: Root) -> None:
        self._root = root

    @tool(effect="reads")
    def read_file(self, path: str, first_line: int = 1, max_lines: int = 2000) -> str:
        """Read a text file.

        Args:
            path: The file, relative to the working directory.
            first_line: The line to begin with, from 1.
            max_lines: How many lines to read at most.
        """
        if first_line < 1 or max_lines < 1:
            raise ValueError(f"first_line is {first_line} and max_lines is {max_lines}; both count from 1")
        parts = self._root.parts(path)
        lines: list[str] = []
        notes: list[str] = []
        room, number, ended = _LONGEST_READ, 0, True
        replaced = False
        for number, line in enumerate(self._lines(parts), 1):
            if number < first_line:
                continue
            if number >= first_line + max_lines or (len(line) > room and lines):
                ended = False
                break
            replaced = replaced or "\ufffd" in line
            if len(line) > _LONGEST_LINE:
                notes.append(f"[line {number} is cut: only its first {_LONGEST_LINE:,} characters are shown]")
                line = line[:_LONGEST_LINE] + "\n"
            room -= len(line)
            lines.append(line)
        if not lines:
            return "(the file is empty)" if number == 0 else f"(the file ends at line {number:,})"
        if replaced:
            notes.append("[bytes that are not text in the file's encoding are shown as \ufffd]")
        last = first_line + len(lines) - 1
        if not ended:
            notes.append(f"[lines {first_line:,} to {last:,}; go on with first_line={last + 1}]")
        text = "".join(lines)
        return "\n".join([text.removesuffix("\n"), *notes]) if notes else text

    @tool(effect="reads")
    def list_files(self, path: str = ".", pattern: str = "*", recursive: bool = False, hidden: bool = False) -> str:
        """List the files in a directory.

        Args:
            path: The directory, relative to the working directory.
            pattern: Which names to list, as "*.py"; with a "/" it is matched against the whole path, as "src/**/*.py".
            recursive: List the directories below it too.
            hidden: List names that begin with a dot too.
        """
        parts = self._root.parts(path)
        fits = path_filter(pattern)
        found: list[str] = []
        deep = recursive or "/" in pattern or "**" in pattern
        for entry, _, is_directory in self._walk(parts, hidden=hidden, deep=deep):
            if fits(entry):
                found.append(self._root.shown(parts + entry) + ("/" if is_directory else ""))
            if len(found) > _MOST_ENTRIES:
                break
        if not found:
            return f"(no entries in '{self._root.shown(parts)}' match '{pattern}')"
        more = [f"[more than {_MOST_ENTRIES:,} entries; give a narrower path or pattern]"]
        return "\n".join(found[:_MOST_ENTRIES] + (more if len(found) > _MOST_ENTRIES else []))

    @tool(effect="reads")
    def search_text(
        self,
        text: str,
        path: str = ".",
        pattern: str = "*",
        regex: bool = False,
        ignore_case: bool = False,
        max_matches: int = 100,
    ) -> str:
        """Search for a text in files.

        Args:
            text: What to search for, within one line.
            path: The file, or the directory whose files (all below it) are searched.
            pattern: Which files to search, by name, as "*.py".
            regex: Take the text as a Python regular expression.
            ignore_case: Find upper and lower case alike.
            max_matches: How many lines to show at most.
        """
        if not text:
            raise ValueError("the text to search for is empty")
        try:
            wanted = re.compile(text if regex else re.escape(text), re.IGNORECASE if ignore_case else 0)
        except re.error as error:
            raise ValueError(f"'{text[:200]}' is not a regular expression: {error}") from None
        matches: list[str] = []
        searched = skipped = 0
        for parts in self._files(path, pattern):
            try:
                if self._size(parts) > _LARGEST_SEARCHED:
                    skipped += 1
                    continue
                for number, line in enumerate(self._lines(parts), 1):
                    if wanted.search(line.rstrip("\r\n")):
                        matches.append(f"{self._root.shown(parts)}:{number}: {line.strip()[:_LONGEST_MATCH]}")
                        if len(matches) > max_matches:
                            break
                searched += 1
            except (OSError, ValueError):
                skipped += 1
            if len(matches) > max_matches:
                break
        notes = [f"[more than {max_matches:,} matches; give a narrower path, pattern or text]"]
        lines = matches[:max_matches] + (notes if len(matches) > max_matches else [])
        lines = lines or [f"(no match in {counted(searched, 'file')})"]
        if skipped:
            lines.append(f"[not searched, since too large, unreadable or not text: {counted(skipped, 'file')}]")
        return "\n".join(lines)

    @tool(effect="reads")
    def count_words(self, path: str) -> str:
        """Count the words in a file.

        Args:
            path: The file, relative to the working directory.
        """
        parts = self._root.parts(path)
        words = lines = characters = 0
        inside, last = False, "\n"
        for piece in self._pieces(parts):
            words += len(piece.split()) - (1 if inside and not piece[0].isspace() else 0)
            lines += piece.count("\n")
            characters += len(piece)
            last = piece[-1]
            inside = not last.isspace()
        lines += last != "\n"
        counts = (counted(words, "word"), counted(lines, "line"), counted(characters, "character"))
        return f"{self._root.shown(parts)}: {', '.join(counts)}"

    def _size(self, parts: tuple[str, ...]) -> int:
        with self._root.file_fd(parts) as descriptor:
            return os.fstat(descriptor).st_size

    def _pieces(self, parts: tuple[str, ...]) -> Iterator[str]:
        """Yield the file's text in pieces that are not empty."""
        with self._root.file_fd(parts) as descriptor:
            head = os.read(descriptor, _CHUNK)
            encoding = find_encoding(head)
            if encoding is None:
                size = os.fstat(descriptor).st_size
                raise ValueError(f"'{self._root.shown(parts)}' is not a text file ({size:,} bytes of binary data)")
            decoder = incremental_decoder(encoding)
            chunk = head[len(encoding.mark) :]
            while True:
                piece = decoder.decode(chunk, final=not head)
                if piece:
                    yield piece
                if not head:
                    return
                chunk = head = os.read(descriptor, _CHUNK)

    def _lines(self, parts: tuple[str, ...]) -> Iterator[str]:
        """Yield the file's lines with their ends; a line that is far too long is yielded short."""
        rest = ""
        for piece in self._pieces(parts):
            *whole, rest_of_piece = piece.split("\n")
            for line in whole:
                yield f"{rest}{line}\n"
                rest = ""
            rest = (rest + rest_of_piece)[: _LONGEST_LINE + 1]
        if rest:
            yield rest

    def _files(self, path: str, pattern: str) -> Iterator[tuple[str, ...]]:
        parts = self._root.parts(path)
        if parts and self._is_file(parts):
            yield parts
            return
        fits = path_filter(pattern)
        for entry, readable, is_directory in self._walk(parts, hidden=False, deep=True):
            if readable and not is_directory and fits(entry):
                yield parts + entry

    def _is_file(self, parts: tuple[str, ...]) -> bool:
        try:
            with self._root.file_fd(parts):
                return True
        except IsADirectoryError:
            return False

    def _walk(
        self, parts: tuple[str, ...], *, hidden: bool, deep: bool
    ) -> Iterator[tuple[tuple[str, ...], bool, bool]]:
        """Yield (path below `parts`, whether it is a regular file or directory, whether it is a directory), sorted.

        Links are named but never followed; names that begin with a dot are left out unless `hidden`.
        """
        waiting: list[tuple[str, ...]] = [()]
        seen = 0
        while waiting:
            here = waiting.pop()
            try:
                with self._root.directory_fd(parts + here) as descriptor, os.scandir(descriptor) as listing:
                    entries = sorted(
                        (entry.name, entry.is_dir(follow_symlinks=False), entry.is_file(follow_symlinks=False))
                        for entry in listing
                        if hidden or not entry.name.startswith(".")
                    )
            except OSError:
                if not here:
                    raise
                continue
            for name, is_directory, is_file in entries:
                seen += 1
                if seen > _MOST_FILES:
                    return
                yield (*here, name), is_directory or is_file, is_directory
            if deep:
                waiting.extend((*here, name) for name, is_directory, _ in reversed(entries) if is_directory)
