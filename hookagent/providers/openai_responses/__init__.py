"""The wire form of the OpenAI Responses API."""

WIRE = "openai-responses"
