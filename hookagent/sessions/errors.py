"""What can be wrong with a session on disk. Both are configuration errors: the user named what cannot be used."""

from __future__ import annotations

from hookagent.errors import ConfigurationError


class SessionError(ConfigurationError):
    """A session, or the file that holds them all, cannot be found, read or written; the text says what to do."""


class SessionBusyError(SessionError):
    """Another process works on the session. `session_id` says which, `holder` who it is, in words."""

    def __init__(self, session_id: str, holder: str) -> None:
        self.session_id = session_id
        self.holder = holder
        super().__init__(
            f"session '{session_id}': is in use by {holder}; wait until that ends, "
            "begin a new session, or fork this one"
        )
