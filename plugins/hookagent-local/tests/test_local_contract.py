from hookagent.testing import check_plugin


def test_the_provider_keeps_the_contract() -> None:
    check_plugin("local")
