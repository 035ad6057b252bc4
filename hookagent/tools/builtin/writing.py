"""Tools that change files: write_file, edit_file."""

from __future__ import annotations

import os

from hookagent.counting import counted
from hookagent.tools.builtin.confined import Root
from hookagent.tools.builtin.decoding import find_encoding
from hookagent.tools.tool import tool

_LARGEST_EDITED = 20_000_000


class WritingTools:
    """The tools that write below `root`."""

    def __init__(self, root: Root) -> None:
        self._root = root

    @tool(effect="writes")
    def write_file(self, path: str, content: str) -> str:
        """Write a text file, replacing what was in it.

        Args:
            path: The file, relative to the working directory; missing directories are made.
            content: The whole new text of the file.
        """
        parts = self._root.parts(path)
        data = content.encode()
        new = self._root.write(parts, data)
        return f"{'created' if new else 'replaced'} {self._root.shown(parts)} ({len(content):,} characters)"

    @tool(effect="writes")
    def edit_file(self, path: str, old: str, new: str, replace_all: bool = False) -> str:
        """Replace a text in a file by another.

        Args:
            path: The file, relative to the working directory.
            old: The text to replace, exactly as it stands in the file; it must stand there exactly once.
            new: The text to put in its place.
            replace_all: Replace it wherever it stands, however often.
        """
        if not old:
            raise ValueError("the text to replace is empty; use write_file to write a whole file")
        if old == new:
            raise ValueError("old and new text are the same; nothing was changed")
        parts = self._root.parts(path)
        shown = self._root.shown(parts)
        with self._root.file_fd(parts) as descriptor:
            size = os.fstat(descriptor).st_size
            if size > _LARGEST_EDITED:
                raise ValueError(f"'{shown}' is too large to edit ({size:,} bytes)")
            with os.fdopen(os.dup(descriptor), "rb") as stream:
                data = stream.read()
        encoding = find_encoding(data)
        if encoding is None:
            raise ValueError(f"'{shown}' is not a text file ({size:,} bytes of binary data)")
        try:
            text = data[len(encoding.mark) :].decode(encoding.name)
        except UnicodeDecodeError as error:
            raise ValueError(
                f"'{shown}' has bytes that are not valid {encoding.name} (at byte {error.start:,}); it was not changed"
            ) from None
        if old not in text and "\r\n" in text and "\r\n" not in old:
            # A model writes plain line ends; the file keeps its own.
            old, new = old.replace("\n", "\r\n"), new.replace("\n", "\r\n")
        count = text.count(old)
        if count == 0:
            raise ValueError(f"the text to replace does not stand in '{shown}'; it was not changed. read it again")
        if count > 1 and not replace_all:
            raise ValueError(
                f"the text to replace stands {count} times in '{shown}'; it was not changed. "
                "give more of the text around it, or set replace_all"
            )
        self._root.write(parts, encoding.encode(text.replace(old, new)))
        return f"replaced {counted(count, 'place')} in {shown}"
