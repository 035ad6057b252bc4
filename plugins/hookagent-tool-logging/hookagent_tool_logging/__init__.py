"""The plugin `tool-logging`: the start and the end of every tool call, for people and for programs."""

from hookagent_tool_logging.plugin import ToolLogging

__all__ = ["ToolLogging"]
