from hookagent.testing import check_plugin


def test_the_plugin_keeps_the_contract() -> None:
    check_plugin("reflection", {"check_answer": True, "required": True})
