"""Sessions on disk: what survives the process, and how a session comes back from it.

`store` keeps sessions in one SQLite file, `journal` is the listener that writes what happens, `restore` makes the
state of a session from what was written, `text_log` and `session_log` write the two files that people read.

Nothing is imported here, so that an agent without files does not pay for SQLite.
"""
