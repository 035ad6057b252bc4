"""What can be read of an agent at any time, running or not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from hookagent.assembly import check_model
from hookagent.host import LoadedPlugin
from hookagent.limits import Limits
from hookagent.loop.run import Run
from hookagent.messages import ToolCall
from hookagent.providers.base import Provider
from hookagent.result import RunResult
from hookagent.session import Session, SessionState
from hookagent.tools.registry import ToolRegistry
from hookagent.transcript import Transcript

AgentStatus = Literal["idle", "running", "waiting"]


class Readings:
    """The readable side of `Agent`."""

    name: str
    system_prompt: str
    model_settings: Mapping[str, Any]
    last_result: RunResult | None
    _state: SessionState
    _session: Session
    _run: Run | None
    _ending: Run | None
    _tools: ToolRegistry
    _plugins: tuple[LoadedPlugin, ...]
    _limits: Limits
    _model: str | Provider | None
    _provider: Provider | None

    @property
    def session(self) -> Session:
        """The session, as a read-only view."""
        return self._session

    @property
    def transcript(self) -> Transcript:
        """The transcript as it is now: a snapshot that never changes."""
        return self._state.transcript

    @property
    def status(self) -> AgentStatus:
        """`running`, `waiting` (calls wait for an answer; the next run asks for it), or `idle`."""
        return "running" if self._run is not None else "waiting" if self._session.waiting else "idle"

    @property
    def running(self) -> bool:
        """Whether a run is active."""
        return self._run is not None

    @property
    def streaming_text(self) -> str | None:
        """The text of the reply that is coming in, as far as it came; None when none is."""
        pieces = self._state.streaming
        return None if pieces is None else "".join(pieces)

    @property
    def pending_calls(self) -> tuple[ToolCall, ...]:
        """The calls of the open round that have no result yet."""
        open_round = self._state.transcript.open_round
        return open_round.open_calls if open_round is not None else ()

    @property
    def last_error(self) -> str | None:
        """Why the last run did not complete; None when it did, or none ran."""
        result = self.last_result
        return None if result is None or result.ok else result.reason or result.status

    @property
    def tools(self) -> ToolRegistry:
        """The tool table; what is added or removed counts from the next request on."""
        return self._tools

    @property
    def model(self) -> str:
        """The model's name, as "provider:model"."""
        provider = self.provider
        return f"{provider.name}:{provider.model}" if provider.model else provider.name

    @model.setter
    def model(self, model: str | Provider) -> None:
        check_model(model)
        self._model = model
        self._provider = None if isinstance(model, str) else model

    @property
    def provider(self) -> Provider:
        """The model itself, made when first needed. Raises `ConfigurationError` when none can be."""
        if self._provider is None:
            from hookagent.providers.routing import default_model, provider_for

            self._provider = provider_for(default_model() if self._model is None else self._model)
        return self._provider

    @property
    def plugins(self) -> tuple[LoadedPlugin, ...]:
        """The plugins, in call order."""
        return self._plugins

    @property
    def limits(self) -> Limits:
        """The limits of each run."""
        return self._limits
