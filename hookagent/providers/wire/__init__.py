"""The last check before a request is sent: one set of rules for every Request, and one checker per wire form."""

from hookagent.providers.wire.request_rules import check_request

__all__ = ["check_request"]
