"""The two pluggy markers; plugins use `hookimpl`."""

from __future__ import annotations

import pluggy

NAME = "hookagent"
"""The project's name in pluggy, and the entry-point group of plugins."""

hookspec = pluggy.HookspecMarker(NAME)
hookimpl = pluggy.HookimplMarker(NAME)
