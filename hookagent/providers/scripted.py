"""A provider that answers from a script: for tests, tutorials and benchmarks. It sends nothing anywhere."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from hookagent.counting import counted
from hookagent.errors import ConfigurationError, ProviderError
from hookagent.messages import AssistantMessage, ToolResult
from hookagent.providers.base import Delta
from hookagent.providers.script_file import read_script
from hookagent.providers.script_steps import Step, read_step, reply_step
from hookagent.providers.wire.request_rules import check_request
from hookagent.requests import Request
from hookagent.transcript import ToolRound

StepSource = Any
"""A text, a mapping (see `script_steps.STEP_KEYS`), an AssistantMessage, or a function from the Request to one."""


class ScriptedProvider:
    """Answers each request with the next step of a script; a missing step and an unused one are errors.

    `steps` is a list of steps, or one function that answers every request. A step is a text; a mapping with
    `text`, `calls` (each `name`, and `arguments` or `raw_arguments`, perhaps `id`), `thinking`, `stop`,
    `usage`, `expect` (must be part of the request's last message) or `error` (a kind of `ProviderError`);
    an `AssistantMessage`; or a function that is given the Request and returns one of these, or awaits it.

    Raises `ConfigurationError` for a step that cannot be read.
    """

    name = "scripted"
    wire: str | None = None

    def __init__(
        self,
        steps: Sequence[StepSource] | Callable[[Request], StepSource | Awaitable[StepSource]],
        *,
        model: str = "script",
        context_window: int | None = None,
        places: Sequence[str] | None = None,
    ) -> None:
        self.model = model
        self.context_window = context_window
        self.notice = f"scripted replies from {model}; no model is asked"
        self.requests_answered = 0
        self._answer_all = steps if callable(steps) else None
        self._places = places or ()
        sources = () if callable(steps) else steps
        self._steps = [
            source if callable(source) else self._read(source, self._place(number))
            for number, source in enumerate(sources, 1)
        ]

    @classmethod
    def from_file(cls, path: str | Path) -> ScriptedProvider:
        """Read a script from a YAML file: a list of steps, or a mapping with `replies` and `context_window`.

        Raises `ConfigurationError` naming the file, the line and the step.
        """
        sources, lines, window = read_script(Path(path))
        places = [f"{path}:{line}: step {number}" for number, line in enumerate(lines, 1)]
        return cls(sources, model=str(path), context_window=window, places=places)

    async def stream(self, request: Request) -> AsyncIterator[Delta | AssistantMessage]:
        """Answer with the next step; see `Provider.stream`.

        Raises `ProviderError`: `configuration` when the script has no more steps, `invalid_request` when
        what the step expects is not in the last message, or the error that the step names.
        """
        check_request(request)
        number = self.requests_answered
        if self._answer_all is not None:
            source: Any = self._answer_all
        elif number < len(self._steps):
            source = self._steps[number]
        else:
            steps = counted(len(self._steps), "step")
            raise ProviderError(
                "response", self.name, f"{self.model} has {steps}, but step {number + 1} was asked for; add it"
            )
        self.requests_answered = number + 1
        if type(source) is not Step:
            answer = source(request)
            if inspect.isawaitable(answer):
                answer = await answer
            source = self._read(answer, self._place(number + 1))
        if source.expect is not None:
            _check_expectation(source, request)
        for delta in source.deltas:
            yield delta
        if source.error is not None:
            error = source.error
            raise ProviderError(
                error.kind,
                self.name,
                str(error).removeprefix(f"{self.name}: "),
                status=error.status,
                retry_after=error.retry_after,
                window=error.window,
            )
        yield source.reply(request, self.model, self.name)

    def assert_finished(self) -> None:
        """Raise `ConfigurationError` naming the first step that no request asked for."""
        unused = len(self._steps) - self.requests_answered
        if unused > 0:
            others = f", nor the {unused - 1} behind it" if unused > 1 else ""
            raise ConfigurationError(
                f"{self._place(self.requests_answered + 1)}: not used{others}; "
                "the run asked for fewer replies than the script has"
            )

    def _place(self, number: int) -> str:
        return self._places[number - 1] if number <= len(self._places) else f"{self.model}: step {number}"

    def _read(self, source: StepSource, place: str) -> Step:
        if isinstance(source, Step):
            return source
        if isinstance(source, AssistantMessage):
            return reply_step(source, place)
        return read_step(source, place)


def _check_expectation(step: Step, request: Request) -> None:
    text = _last_message_text(request)
    if step.expect is not None and step.expect not in text:
        shown = text if len(text) <= 200 else text[:200] + "…"
        raise ProviderError(
            "invalid_request", "scripted", f"{step.place}: expected '{step.expect}' in the last message, got: {shown}"
        )


def _last_message_text(request: Request) -> str:
    """The text of the newest block, of all its results where it is a round, and of the notes behind it."""
    texts: list[str] = []
    block = request.blocks[-1]
    if isinstance(block, ToolRound):
        texts += [result.content for result in block.results if isinstance(result, ToolResult)]
    else:
        texts.append(block.text)
    texts += [note.text for note in request.notes]
    return "\n".join(texts)
