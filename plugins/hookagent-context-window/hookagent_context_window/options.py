"""What can be set for the plugin `context-window`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

Strategy = Literal["none", "drop", "clear_results", "summarize"]


class ContextWindowOptions(BaseModel):
    """The options; percentages are of the window."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    window: int | None = Field(
        default=None, ge=1, description="the window in tokens; by default what the model's provider knows"
    )
    warn_at: float = Field(default=80.0, gt=0, le=100, description="the percentage at which a warning is logged")
    strategy: Strategy = Field(
        default="drop",
        description="`drop` leaves out the oldest blocks, `clear_results` first takes away the text of old tool "
        "results, `summarize` asks a model for a summary in place of the oldest blocks, `none` only watches",
    )
    compact_at: float = Field(
        default=90.0, gt=0, le=100, description="the percentage from which requests are shortened"
    )
    target: float = Field(default=60.0, gt=0, le=100, description="the percentage to which they are shortened")
    keep_rounds: int = Field(
        default=2, ge=1, description="how many of the newest tool rounds (and replies) are left as they are"
    )
    model: Any = Field(
        default=None,
        description="the model that summarizes, as `provider:model` (in Python also a provider); none: the agent's",
    )
    characters_per_token: float = Field(
        default=4.0, gt=0, description="what the estimate begins with, until reported usage teaches it better"
    )
    summary_words: int = Field(default=400, ge=20, description="how long a summary may be, in a large window")
    timeout_seconds: float = Field(default=120.0, gt=0, description="how long one question for a summary may take")

    @field_validator("model")
    @classmethod
    def _model_can_be_asked(cls, value: Any) -> Any:
        if value is None or (isinstance(value, str) and value.strip()) or hasattr(value, "stream"):
            return value
        raise ValueError("expected a model's name as 'provider:model', or a provider")

    @model_validator(mode="after")
    def _target_lies_below(self) -> ContextWindowOptions:
        if self.target >= self.compact_at:
            raise ValueError(f"target ({self.target:g}) must lie below compact_at ({self.compact_at:g})")
        return self
