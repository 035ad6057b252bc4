"""The wire form of the Anthropic Messages API."""

WIRE = "anthropic-messages"
