import pytest

from hookagent.testing import check_plugin


@pytest.mark.parametrize("strategy", ["clear_results", "summarize"])
def test_the_plugin_keeps_the_contract_in_a_window_that_is_too_small(strategy: str) -> None:
    check_plugin("context-window", {"window": 120, "strategy": strategy, "keep_rounds": 1, "summary_words": 20})
