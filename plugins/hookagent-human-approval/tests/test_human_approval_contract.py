from hookagent.testing import check_plugin
from hookagent_human_approval import HumanApproval


class Person:
    """Somebody who says yes to everything."""

    width = 80

    async def ask(self, text: str) -> str:
        return "y"

    async def edit(self, text: str) -> str | None:
        return None


def test_the_plugin_keeps_the_contract_by_its_name() -> None:
    check_plugin("human-approval", {"deny": ["*"]})


def test_the_plugin_keeps_the_contract_where_a_session_waits() -> None:
    options = HumanApproval.Options(ask=["reference_look"], deny=["reference_fail"], unattended="wait")
    check_plugin(lambda: HumanApproval(options, open_terminal=lambda: None))


def test_the_plugin_keeps_the_contract_where_somebody_says_yes() -> None:
    check_plugin(lambda: HumanApproval(HumanApproval.Options(ask=["*"]), open_terminal=Person))
