"""The one SQLite file of all sessions: opened when first needed, private, safe from several threads and processes.

WAL with `synchronous=NORMAL`: what was committed survives the death of the process; the death of the machine may
cost what was committed last, and never the file.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from hookagent.sessions.errors import SessionError
from hookagent.sessions.places import private_file, private_folder

FILE_NAME = "sessions.sqlite"
BUSY_MILLISECONDS = 5_000
_PAUSE_SECONDS = 0.005
_SCHEMA_VERSION = 1
# One table tree takes all records: the row's number is the session's key and, in the lower 32 bits, the record's
# number in its session. An index over (session, number) would double what each record costs.
_SCHEMA = (
    """
    CREATE TABLE sessions (
        key INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        agent TEXT NOT NULL,
        model TEXT NOT NULL,
        cwd TEXT NOT NULL,
        parent_id TEXT,
        forked_from TEXT,
        forked_at INTEGER,
        created REAL NOT NULL
    )
    """,
    "CREATE INDEX sessions_cwd ON sessions (cwd)",
    "CREATE INDEX sessions_forked_from ON sessions (forked_from) WHERE forked_from IS NOT NULL",
    "CREATE TABLE records (place INTEGER PRIMARY KEY, time REAL NOT NULL, kind TEXT NOT NULL, data TEXT NOT NULL)",
    """
    CREATE VIEW session_records AS
    SELECT sessions.id AS session_id, records.place & 4294967295 AS number, records.time, records.kind, records.data
    FROM records JOIN sessions ON sessions.key = records.place >> 32
    """,
    f"PRAGMA user_version = {_SCHEMA_VERSION}",
)
BROKEN: tuple[type[Exception], ...] = (sqlite3.Error, OSError, UnicodeDecodeError, OverflowError)
"""What comes of a file that cannot be used; of a damaged one, also texts and numbers that Python cannot read."""
# A connection that a forked process inherited may be neither used nor closed there: it is kept and left alone.
_inherited: list[sqlite3.Connection] = []


class Database:
    """The database in `folder`. Every failure is a `SessionError` that names the file."""

    __slots__ = ("_connection", "_lock", "_pid", "folder", "path")

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / FILE_NAME
        self._connection: sqlite3.Connection | None = None
        self._pid = 0
        self._lock = threading.RLock()

    @property
    def exists(self) -> bool:
        """Whether there is a file yet; reading commands make none. Raises `SessionError` where there can be none."""
        if self._connection is not None:
            return True
        try:
            if self.path.exists():
                return True
            if self.folder.exists() and not self.folder.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, "a file stands where the folder should be")
        except OSError as error:
            raise SessionError(f"{self.folder}: {_in_words(error)}") from error
        return False

    @contextlib.contextmanager
    def using(self) -> Iterator[sqlite3.Connection]:
        """The connection, for this thread alone. Raises `SessionError` for whatever fails with it."""
        with self._lock:
            try:
                yield self._connected()
            except BROKEN as error:
                raise SessionError(f"{self.path}: {_in_words(error)}") from error

    def execute(self, statement: str, values: Sequence[object]) -> None:
        """Carry out one statement that gives nothing back: all of it, or nothing. Raises `SessionError`."""
        with self._lock:
            try:
                self._connected().execute(statement, values)
            except BROKEN as error:
                raise SessionError(f"{self.path}: {_in_words(error)}") from error

    @contextlib.contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """The same, as one transaction: all of it is written, or nothing."""
        with self.using() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise
            try:
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    with contextlib.suppress(sqlite3.Error):
                        connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Close the connection; the next use opens a new one."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is None:
                return
            if self._pid != os.getpid():
                _inherited.append(connection)
                return
            with contextlib.suppress(sqlite3.Error):
                connection.close()

    # What it needs is bound early: at the end of the process a module's names are gone before its objects.
    def __del__(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if not finalizing():
            self.close()

    def _connected(self) -> sqlite3.Connection:
        if self._connection is not None and self._pid != os.getpid():
            self.close()
        if self._connection is None:
            private_folder(self.folder)
            # SQLite gives its side files the rights of this one.
            os.close(private_file(self.path, os.O_RDWR | os.O_CREAT))
            self._connection = self._opened()
            self._pid = os.getpid()
        return self._connection

    def _opened(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=BUSY_MILLISECONDS / 1000, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA secure_delete = ON")
            _switch_to_wal(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Make the tables in a new file; refuse one that is not ours, or of a later version."""
        version = _version(connection)
        if version == 0:
            connection.execute("BEGIN IMMEDIATE")
            # Another process may have made them since.
            version = _version(connection)
            if version == 0:
                if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                    raise SessionError(
                        f"{self.path}: is another program's database; move it away, or set HOOKAGENT_HOME"
                    )
                for statement in _SCHEMA:
                    connection.execute(statement)
                version = _SCHEMA_VERSION
            connection.execute("COMMIT")
        if version != _SCHEMA_VERSION:
            raise SessionError(
                f"{self.path}: has version {version}, and this hookagent knows version {_SCHEMA_VERSION}; "
                "install a later hookagent, or set HOOKAGENT_HOME to another folder"
            )


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    """Wait for others by hand: of several processes that make the file at once, SQLite refuses all but one here."""
    give_up_at = time.monotonic() + BUSY_MILLISECONDS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > give_up_at:
                raise
            time.sleep(_PAUSE_SECONDS)


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _in_words(error: Exception) -> str:
    text = (error.strerror or str(error)).lower() if isinstance(error, OSError) else str(error)
    if isinstance(error, OSError) or "unable to open" in text:
        return f"{text}; make it usable, or set HOOKAGENT_HOME to another folder"
    if "disk I/O" in text:
        # SQLite says no more, also where there is no room for the file that it shares with other processes.
        return f"{text}: the disk may be full, or the folder read-only"
    if "locked" in text:
        return f"{text}: another program keeps it busy"
    if isinstance(error, UnicodeDecodeError) or "malformed" in text or "not a database" in text:
        return f"{text}: the file is damaged; look at it with 'hookagent sessions verify', or move it away"
    return text
