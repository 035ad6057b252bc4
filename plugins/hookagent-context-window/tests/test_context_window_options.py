"""Options: what is refused, with the reason."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from hookagent_context_window import ContextWindow


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"target": 90, "compact_at": 80}, r"target \(90\) must lie below compact_at \(80\)"),
        ({"strategy": "forget"}, "'none', 'drop', 'clear_results' or 'summarize'"),
        ({"window": 0}, "greater than or equal to 1"),
        ({"warn_at": 101}, "less than or equal to 100"),
        ({"wrn_at": 80}, "Extra inputs"),
        ({"model": 3}, "provider:model"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        ContextWindow.Options.model_validate(options)
