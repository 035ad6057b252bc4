"""The wire form of OpenAI Chat Completions, which every compatible server speaks."""

WIRE = "openai-chat"
