"""A request that is too long lowers the believed window, is shortened once and sent once more, never unchanged."""

from __future__ import annotations

from typing import Any

from hookagent.errors import ProviderError
from hookagent.providers.scripted import ScriptedProvider
from hookagent.testing import Recorder
from tests.core.scripts import make_agent, words


class Narrow(ScriptedProvider):
    """A scripted model that refuses requests of more blocks than `most`, naming its window."""

    most = 3
    named: int | None = 8192
    asked: list[int]

    async def stream(self, request: Any) -> Any:
        self.asked.append(len(request.blocks))
        if len(request.blocks) > self.most:
            raise ProviderError("too_long", "narrow", "prompt is too long", window=self.named)
        async for item in super().stream(request):
            yield item


def narrow(count: int) -> Narrow:
    provider = Narrow([{"text": f"answer {number}"} for number in range(count)], context_window=65536)
    provider.asked = []
    return provider


def test_it_is_shortened_once_and_sent_once_more() -> None:
    def shorten(arguments: Any) -> Any:
        request = arguments["request"]
        window = agent.session.context_window
        return request.dropping_before(len(request.blocks) - 1) if window is not None and window < 65536 else None

    recorder = Recorder({"shape_request": shorten})
    agent = make_agent([], recorder)
    provider = narrow(3)
    agent.model = provider
    agent.run_sync("one")
    agent.run_sync("two")
    result = agent.run_sync("three")
    assert (result.status, result.answer) == ("completed", "answer 2")
    assert provider.asked == [1, 3, 5, 2]
    assert agent.session.context_window == 8192
    assert recorder.names.count("on_error") == 1
    assert words(agent.session.transcript)[-2:] == ["U three", "A answer 2"]


def test_it_is_never_sent_again_unchanged() -> None:
    agent = make_agent([])
    provider = narrow(3)
    agent.model = provider
    agent.run_sync("one")
    agent.run_sync("two")
    result = agent.run_sync("three")
    assert result.status == "failed"
    assert "too long" in result.reason
    assert provider.asked == [1, 3, 5]


def test_a_second_refusal_is_the_end() -> None:
    recorder = Recorder({"shape_request": lambda a: a["request"].dropping_before(1)})
    agent = make_agent([], recorder)
    provider = narrow(5)
    provider.most = 0
    provider.named = None
    agent.model = provider
    result = agent.run_sync("one")
    assert result.status == "failed"
    assert provider.asked == [1]
