"""The embedded model: a tiny tool-calling model inside this process, as the provider `local`."""

from hookagent_local.provider import LocalProvider as LocalProvider

__all__ = ["LocalProvider"]
