"""A plugin for hookagent: asks a model what a tool round showed, and checks the answer against the task."""

from hookagent_reflection.plugin import Reflection

__all__ = ["Reflection"]
