"""What the tests of bad plugins share."""

from __future__ import annotations

from typing import Any

import pytest

from checks.tally import count
from hookagent.testing import check_plugin


def refusal(plugin: Any, **how: Any) -> str:
    """What the check says against a plugin that it must refuse."""
    with pytest.raises(AssertionError) as caught:
        check_plugin(plugin, **how)
    count("bad plugins refused")
    return str(caught.value)
