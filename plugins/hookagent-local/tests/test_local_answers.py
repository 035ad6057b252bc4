import pytest

from hookagent import AssistantMessage, Tool, ToolCall, ToolResult, ToolRound, freeze
from hookagent_local.answers import answer_from_results, no_tool_answer


def round_of(*results: ToolResult) -> ToolRound:
    calls = tuple(ToolCall(f"c{place}", "look", freeze({"at": place})) for place in range(len(results)))
    return ToolRound(AssistantMessage(calls, "tool_calls"), results)


def read_file(path: str) -> str:
    """Read a file."""
    return path


def test_one_result_is_the_answer_as_it_is() -> None:
    assert answer_from_results([round_of(ToolResult("line one\n  line two"))]) == "line one\n  line two"


def test_several_results_are_told_apart_in_call_order() -> None:
    rounds = [round_of(ToolResult("a"), ToolResult("b\nc")), round_of(ToolResult("d"))]
    assert answer_from_results(rounds) == "look(at=0) gave: a\nlook(at=1) gave:\nb\nc\nlook(at=0) gave: d"


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (ToolResult("no file", True, "error"), "look(at=0) failed: no file"),
        (ToolResult("no file", True), "look(at=0) failed: no file"),
        (ToolResult("by ann", True, "denied"), "look(at=0) was denied: by ann"),
        (ToolResult("aborted", True, "not_run"), "look(at=0) was not run: aborted"),
        (ToolResult("aborted", True, "interrupted"), "look(at=0) was interrupted: aborted"),
    ],
)
def test_what_went_wrong_is_said(result: ToolResult, said: str) -> None:
    assert answer_from_results([round_of(result)]) == said


def test_long_arguments_and_those_that_could_not_be_read_are_shown_short() -> None:
    long = ToolCall("c1", "write_file", freeze({"content": "x\n" * 500, "times": 2}))
    odd = ToolCall("c2", "write_file", None, "{", "not JSON")
    reply = AssistantMessage((long, odd), "tool_calls")
    lines = answer_from_results([ToolRound(reply, (ToolResult("done"), ToolResult("bad", True, "error")))]).splitlines()
    assert len(lines) == 2
    assert len(lines[0]) < 120
    assert lines[0].endswith("…, times=2) gave: done")
    assert lines[1] == "write_file failed: bad"


def test_no_tool_names_the_tools_the_guess_and_the_ways_on() -> None:
    text = no_tool_answer([Tool.from_callable(read_file)], [("read_file", {"path": "a.txt"})])
    assert "The tools here: read_file." in text
    assert "not sure enough of to run: read_file(path=a.txt)." in text
    assert "OPENAI_API_KEY" in text
    assert "guess" not in no_tool_answer([Tool.from_callable(read_file)], [])
