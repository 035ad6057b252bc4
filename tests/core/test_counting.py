"""Numbers and what they count."""

from __future__ import annotations

import pytest

from hookagent.counting import counted


@pytest.mark.parametrize(("count", "words"), [(0, "0 calls"), (1, "1 call"), (2, "2 calls"), (-1, "-1 calls")])
def test_one_is_the_singular_and_all_else_the_plural(count: int, words: str) -> None:
    assert counted(count, "call") == words
