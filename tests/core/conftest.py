from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from hookagent.keeping import session_store
from hookagent.sessions.store import SessionStore
from hookagent.sessions.writer import SessionWriter
from tests.core.fault_checks import ACTIVE, MODES, strike
from tests.core.faulty_plugin import Faults
from tests.core.reference_run import Seen


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Seen]]:
    """The reference run with nothing failing, by mode; from here on the writes of sessions may be made to fail."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOOKAGENT_HOME", str(tmp_path_factory.mktemp("home")))
        original_insert, original_writer = SessionWriter._insert, SessionStore.writer

        def insert(writer: SessionWriter, entries: Any) -> None:
            with writer._database.using():  # an error of SQLite, which the product words its own way
                ACTIVE[-1]("write")
            original_insert(writer, entries)

        def open_writer(store: SessionStore, *arguments: Any) -> SessionWriter:
            with store.database.using():
                ACTIVE[-1]("open")
            return original_writer(store, *arguments)

        patch.setattr(SessionWriter, "_insert", insert)
        patch.setattr(SessionStore, "writer", open_writer)
        yield {mode: strike(Faults(), mode) for mode in MODES}
        session_store().close()
