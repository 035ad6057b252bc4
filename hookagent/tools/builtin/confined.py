"""Files below one directory, and no others, whatever a path says and whatever links there are.

A path is resolved first, so that a link that leads outside is told from one that stays inside. Then it is opened from
the directory downwards, one component after the other, without following links: what is swapped in between the two
steps is refused, not followed.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

from hookagent.escaping import paragraphs

SUPPORTED = os.open in os.supports_dir_fd
"""Whether this system can do all that; Windows cannot."""

_COMMON = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_DIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _COMMON
# Without O_NONBLOCK, opening a named pipe would wait for its other end.
_FILE = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _COMMON
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _COMMON
_MOST_NAMES = 2_000


class Root:
    """The directory that tools are confined to.

    `directory` is taken as it is when the root is made, links in it resolved once. Every method takes a path as a
    model writes it: relative to the directory, or absolute but below it. Raises `PermissionError` for a path that
    leads outside, and `OSError` or `ValueError`, with a text for the model, for what is not there or not a file.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(os.path.realpath(directory))

    def parts(self, path: str) -> tuple[str, ...]:
        """Resolve `path`, links included, to its components below the directory; () is the directory itself."""
        if not path or path.isspace():
            path = "."
        if "\x00" in path:
            raise ValueError("the path has a NUL character in it")
        try:
            resolved = Path(os.path.realpath(self.directory / path))
            # Behind links that go round in a circle nothing more is resolved, but for the names of parents.
            circular = os.path.realpath(resolved) != str(resolved)
        except (OSError, RuntimeError, ValueError) as error:
            raise ValueError(f"'{path}': the path cannot be resolved ({error})") from None
        if circular:
            raise ValueError(f"'{path}': the path cannot be resolved (its links go round in a circle)")
        if not resolved.is_relative_to(self.directory):
            raise PermissionError(f"'{path}' leads outside of the working directory; only paths inside it can be used")
        return resolved.relative_to(self.directory).parts

    def shown(self, parts: tuple[str, ...]) -> str:
        """The path as a text of one line, relative to the directory; what steers a terminal is written out."""
        return paragraphs("/".join(parts)).replace("\n", "\\n") or "."

    @contextlib.contextmanager
    def directory_fd(self, parts: tuple[str, ...], *, create: bool = False) -> Iterator[int]:
        """Open the directory `parts`, for as long as the `with` block lasts; `create` makes what is missing."""
        descriptor = os.open(self.directory, _DIRECTORY)
        try:
            for place, name in enumerate(parts):
                try:
                    deeper = os.open(name, _DIRECTORY, dir_fd=descriptor)
                except FileNotFoundError:
                    if not create:
                        raise FileNotFoundError(self._missing(parts[: place + 1])) from None
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(name, dir_fd=descriptor)
                    deeper = os.open(name, _DIRECTORY, dir_fd=descriptor)
                except NotADirectoryError:
                    raise NotADirectoryError(f"'{self.shown(parts[: place + 1])}' is not a directory") from None
                os.close(descriptor)
                descriptor = deeper
            yield descriptor
        finally:
            os.close(descriptor)

    @contextlib.contextmanager
    def file_fd(self, parts: tuple[str, ...]) -> Iterator[int]:
        """Open the regular file `parts` for reading, for as long as the `with` block lasts."""
        shown = self.shown(parts)
        if not parts:
            raise IsADirectoryError("'.' is a directory, not a file")
        with self.directory_fd(parts[:-1]) as parent:
            try:
                descriptor = os.open(parts[-1], _FILE, dir_fd=parent)
            except FileNotFoundError:
                raise FileNotFoundError(self._missing(parts)) from None
            except PermissionError:
                raise PermissionError(f"'{shown}' may not be read: permission denied by the system") from None
            except OSError as error:
                raise OSError(f"'{shown}' cannot be opened: {error.strerror}") from None
        try:
            mode = os.fstat(descriptor).st_mode
            if stat.S_ISDIR(mode):
                raise IsADirectoryError(f"'{shown}' is a directory, not a file")
            if not stat.S_ISREG(mode):
                raise ValueError(f"'{shown}' is not a regular file (a pipe, a socket or a device)")
            yield descriptor
        finally:
            os.close(descriptor)

    def write(self, parts: tuple[str, ...], content: bytes) -> bool:
        """Write the file `parts` at once or not at all; return whether it is new. Its permissions are kept."""
        if not parts:
            raise IsADirectoryError("'.' is a directory, not a file")
        with self.directory_fd(parts[:-1], create=True) as parent:
            try:
                before: os.stat_result | None = os.stat(parts[-1], dir_fd=parent, follow_symlinks=False)
            except FileNotFoundError:
                before = None
            if before is not None and not stat.S_ISREG(before.st_mode):
                raise IsADirectoryError(f"'{self.shown(parts)}' is not a regular file and cannot be written")
            if before is not None and not os.access(parts[-1], os.W_OK, dir_fd=parent):
                raise PermissionError(f"'{self.shown(parts)}' may not be written: it is read-only")
            beside = f".{parts[-1][:100]}.{secrets.token_hex(6)}.tmp"
            descriptor = os.open(beside, _NEW_FILE, 0o666, dir_fd=parent)
            try:
                with os.fdopen(descriptor, "wb") as stream:
                    if before is not None:
                        os.fchmod(stream.fileno(), stat.S_IMODE(before.st_mode))
                    stream.write(content)
                    stream.flush()
                    os.fsync(stream.fileno())
                os.replace(beside, parts[-1], src_dir_fd=parent, dst_dir_fd=parent)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(beside, dir_fd=parent)
                raise
        return before is None

    def _missing(self, parts: tuple[str, ...]) -> str:
        text = f"'{self.shown(parts)}' does not exist"
        try:
            with self.directory_fd(parts[:-1]) as parent:
                names = os.listdir(parent)[:_MOST_NAMES]
        except OSError:
            return text
        near = difflib.get_close_matches(parts[-1], names, 1, 0.6)
        return f"{text}; did you mean '{self.shown((*parts[:-1], near[0]))}'?" if near else text
