from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from hookagent import AssistantMessage, TextPart, ToolCall, ToolResult, ToolRound, UserMessage, freeze
from hookagent_local.conversation import read_task

Block = UserMessage | AssistantMessage | ToolRound

PERSON = UserMessage("read a")
STEER = UserMessage("and b", via="steer")
PLUGIN = UserMessage("think", origin="reflection", via="plugin")
ANSWER = AssistantMessage((TextPart("done"),))


def round_of(call_id: str) -> ToolRound:
    reply = AssistantMessage((ToolCall(call_id, "read_file", freeze({"path": call_id})),), "tool_calls")
    return ToolRound(reply, (ToolResult("text", call_id=call_id),))


ONE, TWO = round_of("1"), round_of("2")


def test_a_prompt_is_asked() -> None:
    assert read_task([PERSON]) == ((PERSON,), (), "")
    assert read_task([PERSON, ONE, ANSWER, PERSON]) == ((PERSON,), (), "")


def test_several_prompts_are_asked_together_and_plugins_messages_left_out() -> None:
    other = UserMessage("read c")
    assert read_task([PERSON, PLUGIN, other, PLUGIN]) == ((PERSON, other), (), "")


def test_results_are_told() -> None:
    assert read_task([PERSON, ONE]) == ((), (ONE,), "")
    assert read_task([PERSON, ONE, PLUGIN, TWO, PLUGIN]) == ((), (ONE, TWO), "")


def test_steering_behind_results_is_asked_and_the_results_kept() -> None:
    assert read_task([PERSON, ONE, STEER]) == ((STEER,), (ONE,), "")
    assert read_task([PERSON, ONE, STEER, TWO]) == ((), (ONE, TWO), "")


def test_a_new_prompt_leaves_behind_what_a_turn_without_an_answer_found() -> None:
    assert read_task([PERSON, ONE, PERSON]) == ((PERSON,), (), "")
    assert read_task([PERSON, ONE, PERSON, TWO]) == ((), (TWO,), "")


def test_a_plugin_that_speaks_behind_an_answer_gets_it_again() -> None:
    assert read_task([PERSON, ONE, ANSWER, PLUGIN]) == ((), (), "done")


def test_a_plugin_is_asked_for_where_nobody_else_spoke() -> None:
    assert read_task([PLUGIN]) == ((PLUGIN,), (), "")


@given(st.lists(st.sampled_from([PERSON, STEER, PLUGIN, ANSWER, ONE, TWO]), min_size=1))
def test_every_conversation_comes_down_to_one_thing(blocks: Sequence[Block]) -> None:
    task = read_task(blocks)
    assert task.asked or task.rounds or task.told
    assert not (task.told and (task.asked or task.rounds))
    if isinstance(blocks[-1], UserMessage) and blocks[-1].origin is None:
        assert task.asked[-1] is blocks[-1]
    if isinstance(blocks[-1], ToolRound):
        assert not task.asked
        assert task.rounds[-1] is blocks[-1]
