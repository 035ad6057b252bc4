"""A strict local server for tests: the real SDKs talk to it, over HTTP, on every wire form."""

from __future__ import annotations

from hookagent.testing.server.replies import Call, Fault, NoId, Reply, ScriptError, ServerCall, Thinking, Usage
from hookagent.testing.server.strict_server import RecordedRequest, RefusedRequest, StrictServer

__all__ = [
    "Call",
    "Fault",
    "NoId",
    "RecordedRequest",
    "RefusedRequest",
    "Reply",
    "ScriptError",
    "ServerCall",
    "StrictServer",
    "Thinking",
    "Usage",
]
