"""The configuration: one frozen pydantic model, with no key that is accepted and ignored.

Importing this module imports pydantic; import it only where a configuration is made or checked.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

import hookagent.limits
from hookagent.config.plugin_entries import long_form, name_fault

DEFAULT_TIME_LIMIT = 60.0
DEFAULT_TOOL_RESULT_LIMIT = 100_000

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]


def _plugin_name(value: Any) -> Any:
    fault = name_fault(value) if isinstance(value, str) else None
    if fault is not None:
        raise ValueError(fault)
    return value


Text = Annotated[str, Field(min_length=1, pattern=r"\S")]
PluginName = Annotated[str, BeforeValidator(_plugin_name)]
Count = Annotated[int, Field(ge=1)]
Amount = Annotated[float, Field(gt=0)]

_DEFAULT_LIMITS = hookagent.limits.Limits()


class _Section(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        hide_input_in_errors=True,
        validate_by_name=True,
        validate_by_alias=True,
    )


class ModelSettings(_Section):
    """How the model is to answer, named alike for all vendors; what a model cannot take is an error at the start.

    `max_output_tokens` is a count, `temperature` is from 0 to 2, `stop` are texts that end the answer, `seed` any
    whole number. `anthropic`, `openai` and `openai_chat` (in YAML `openai-chat`) are passed to that provider as
    they are.
    """

    max_output_tokens: Count | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    effort: Effort | None = None
    stop: list[Annotated[str, Field(min_length=1)]] = Field(default_factory=list)
    seed: int | None = None
    anthropic: dict[str, Any] = Field(default_factory=dict)
    openai: dict[str, Any] = Field(default_factory=dict)
    openai_chat: dict[str, Any] = Field(
        default_factory=dict, validation_alias="openai-chat", serialization_alias="openai-chat"
    )


class PluginEntry(_Section):
    """One plugin that is switched on: its name, its options, and what holds for its hooks.

    `options` (in YAML `with`) are checked by the plugin's own model when it is loaded. `on_error` softens
    observing hooks only (design, "Hooks"). `time_limit` is in seconds for each `async def` hook, None for no
    limit; the default of 60 gives way to the plugin's own default unless `time_limit_given`.
    """

    use: PluginName
    options: dict[str, Any] = Field(default_factory=dict, validation_alias="with", serialization_alias="with")
    on_error: Literal["fail", "warn", "disable"] = "fail"
    time_limit: Amount | None = DEFAULT_TIME_LIMIT

    @model_validator(mode="before")
    @classmethod
    def _take_short_forms(cls, value: Any) -> Any:
        return long_form(value)

    @property
    def time_limit_given(self) -> bool:
        """Whether `time_limit` was written down, be it as None, or is only the default."""
        return "time_limit" in self.model_fields_set


class Limits(_Section):
    """What ends a run, counted over all its turns and the agents nested in it; `null` is no limit.

    The same limits, with the same bounds and defaults, as `hookagent.Limits` (design, "Limits"), which is what an
    agent is given. Tokens and calls are counts, `max_cost_usd` is in US dollars, `max_seconds` in seconds.
    """

    max_iterations: Count | None = _DEFAULT_LIMITS.max_iterations
    max_tool_calls: Count | None = _DEFAULT_LIMITS.max_tool_calls
    max_tokens: Count | None = _DEFAULT_LIMITS.max_tokens
    max_input_tokens: Count | None = _DEFAULT_LIMITS.max_input_tokens
    max_output_tokens: Count | None = _DEFAULT_LIMITS.max_output_tokens
    max_cost_usd: Amount | None = _DEFAULT_LIMITS.max_cost_usd
    max_seconds: Amount | None = _DEFAULT_LIMITS.max_seconds
    max_equal_calls: Annotated[int, Field(ge=2)] | None = _DEFAULT_LIMITS.max_equal_calls
    closing_answer: bool = _DEFAULT_LIMITS.closing_answer


class Config(_Section):
    """Everything that can be configured (design, "The outside contract", YAML).

    `model` is `provider:model`, or None: the environment decides. `plugins` is None when nothing was said about
    plugins, and an empty list when none are wanted. `tool_result_limit` is in characters.
    Raises `pydantic.ValidationError` when built from wrong values; files are read by `load_config`.
    """

    model: Text | None = None
    model_settings: ModelSettings = Field(default_factory=ModelSettings)
    system_prompt: Text | None = None
    tools: list[Text] = Field(default_factory=list)
    plugins: list[PluginEntry] | None = None
    limits: Limits = Field(default_factory=Limits)
    tool_result_limit: Count = DEFAULT_TOOL_RESULT_LIMIT
    tool_execution: Literal["parallel", "sequential"] = "parallel"

    @model_validator(mode="after")
    def _refuse_plugin_twice(self) -> Config:
        names = [entry.use for entry in self.plugins or []]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"plugin '{twice[0]}' is listed twice; a plugin stands once")
        return self
