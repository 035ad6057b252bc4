"""A model call beside the agent's own conversation: bounded in time, its tokens booked to the plugin."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookagent import Agent


class SideModel:
    """Asks one question at a time, without the transcript.

    `plugin` is the name that usage is booked to; `model` a model's name or a provider object, None for the agent's
    own; `seconds` how long one question may take, with all its retries.
    """

    def __init__(self, plugin: str, model: Any, seconds: float) -> None:
        self._plugin = plugin
        self._model = model
        self._seconds = seconds

    async def ask(self, agent: Agent, prompt: str, *, system: str, output: type[Any] | None = None) -> Any:
        """The answer's text, or an instance of `output`, a pydantic model class.

        Raises `ProviderError` or `ConfigurationError` when the model cannot answer, `TimeoutError` when it takes
        too long.
        """
        from hookagent import complete_with_usage

        model = agent.provider if self._model is None else self._model
        try:
            async with asyncio.timeout(self._seconds):
                completion = await complete_with_usage(prompt, system=system, output=output, model=model)
        except TimeoutError:
            raise TimeoutError(f"no answer within {self._seconds:g} s") from None
        agent.book(completion.usage, self._plugin)
        return completion.value
