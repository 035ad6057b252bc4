"""A plugin for hookagent: knows how full the model's context window is, and keeps requests inside it."""

from hookagent_context_window.gauge import WindowStatus
from hookagent_context_window.plugin import ContextWindow

__all__ = ["ContextWindow", "WindowStatus"]
