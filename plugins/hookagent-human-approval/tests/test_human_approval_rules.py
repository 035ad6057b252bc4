from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookagent_human_approval.rules import Rules, Subject, parse_pattern

WRITE = Subject("write", "writes", {"path": "docs/a.txt"})
LOOK = Subject("look", "reads", {"path": "docs/a.txt"})
FORMS = {"none": [], "other": ["other", "write(path=src/*)", "write(missing=*)"]}


def patterns(tool: str) -> dict[str, list[str]]:
    return {**FORMS, "bare": [f"{tool[:2]}*"], "argument": [f"{tool}(path=docs/*)"]}


# ask -> allow -> what becomes of the call; "own": its own class decides
TABLE = {
    "none": {"none": "own", "other": "own", "bare": "allow", "argument": "allow"},
    "other": {"none": "own", "other": "own", "bare": "allow", "argument": "allow"},
    "bare": {"none": "ask", "other": "ask", "bare": "ask", "argument": "allow"},
    "argument": {"none": "ask", "other": "ask", "bare": "ask", "argument": "ask"},
}


@pytest.mark.parametrize("subject", [WRITE, LOOK])
@pytest.mark.parametrize(("ask", "allow"), list(itertools.product(TABLE, repeat=2)))
def test_the_truth_table(subject: Subject, ask: str, allow: str) -> None:
    expected = TABLE[ask][allow]
    if expected == "own":
        expected = "allow" if subject.effect == "reads" else "ask"
    of_tool = patterns(subject.tool)
    for deny in TABLE:
        decision = Rules(deny=of_tool[deny], ask=of_tool[ask], allow=of_tool[allow]).decide(subject)
        assert decision.action == ("deny" if deny in ("bare", "argument") else expected)


@pytest.mark.parametrize(
    ("effect", "expected"), [("reads", "allow"), ("writes", "ask"), ("sends", "ask"), ("runs_code", "ask")]
)
def test_without_rules_the_tools_own_class_decides(effect: str, expected: str) -> None:
    assert Rules().decide(Subject("x", effect, {})).action == expected


def test_the_decision_names_its_rule() -> None:
    decision = Rules(deny=["no", "wr*"]).decide(WRITE)
    assert decision.rule == "wr*"
    assert decision.reason == "the rule 'deny: wr*' forbids it"


OPERATORS = [
    *(";", "&&", "||", "|", "&", "\n", "\r", "\r\n", "\v", "\f", "\x85", "\u2028", "\u2029", "\0", "\x1b", ">", ">>"),
    *("<", "<<", "<<<", "2>", "&>", "`", "$(", "${", "$IFS", "<(", ">(", "|&"),
]
TEMPLATES = [
    "git add a{}git push",
    "git add a {} git push",
    "git add{} a",
    "git add a{}",
    "git add {}rm b)",
    "git add 'a{}b'",
    'git add "a{}b"',
    "git add a\\{}b",
    "git add {}rm b`",
]
BYPASSES = [template.format(operator) for template in TEMPLATES for operator in OPERATORS]
BENIGN = [
    *("git add a", "git add a b c", "git add -A", "git add --all", "git add .", "git add docs/a.txt", "git add 'a b'"),
    *(
        'git add "ü.txt"',
        "git add *.py",
        "git add a?b",
        "git add -p -- x",
        "git add HEAD~1",
        "git add a#b",
        "git add a=b",
    ),
    *("git add a,b", "git add @x", "git add x:y", "git add a\tb", "git add [ab].txt", "git add v1..v2", "git add a+b"),
]


def test_no_command_in_a_chain_hides_behind_an_allowed_one() -> None:
    rules = Rules(allow=["sh(command=git add *)", "sh(command=git add*)"])
    assert len(set(BYPASSES)) >= 200
    allowed = [text for text in BYPASSES if rules.decide(Subject("sh", "runs_code", {"command": text})).action != "ask"]
    assert allowed == []
    asked = [text for text in BENIGN if rules.decide(Subject("sh", "runs_code", {"command": text})).action != "allow"]
    assert asked == []


def test_a_pipe_of_allowed_commands_is_asked_about() -> None:
    rules = Rules(allow=["sh(command=co *)", "sh(command=head *)"])
    assert rules.decide(Subject("sh", "runs_code", {"command": "head -4 f"})).action == "allow"
    assert rules.decide(Subject("sh", "runs_code", {"command": "co x | head -4"})).action == "ask"


@pytest.mark.parametrize(
    "more", [{"stdin": "a; b"}, {"env": {"X": "$(rm b)"}}, {"args": ["a", ["b\nc"]]}, {"env": {"`x`": "1"}}]
)
def test_operators_in_any_argument_are_asked_about(more: dict[str, Any]) -> None:
    subject = Subject("sh", "runs_code", {"command": "git add a", **more})
    assert Rules(allow=["sh(command=git *)"]).decide(subject).action == "ask"


def test_a_tools_bare_name_allows_all_of_it() -> None:
    assert Rules(allow=["sh"]).decide(Subject("sh", "runs_code", {"command": "a; b"})).action == "allow"


def test_a_tool_that_runs_no_code_may_have_operators_in_its_texts() -> None:
    subject = Subject("write", "writes", {"path": "a.txt", "text": "x > y; $z\n"})
    assert Rules(allow=["write(path=*.txt)"]).decide(subject).action == "allow"


@pytest.mark.parametrize(
    "command",
    ["rm -rf x", "ls; rm -rf x", "ls && rm -rf x", "echo $(rm -rf x)", "echo `rm -rf x`", "ls\nrm -rf x", "(rm -rf x)"],
)
def test_deny_and_ask_see_every_part_of_a_chain(command: str) -> None:
    subject = Subject("sh", "runs_code", {"command": command})
    assert Rules(deny=["sh(command=rm *)"], allow=["sh"]).decide(subject).action == "deny"
    assert Rules(ask=["sh(command=rm *)"], allow=["sh"]).decide(subject).action == "ask"


@pytest.mark.parametrize("path", ["docs/../.env", "docs/..", "../docs/a", "docs\\..\\a", "docs/x/../../b"])
def test_allow_does_not_reach_through_a_parent_folder(path: str) -> None:
    assert Rules(allow=["write(path=*docs*)"]).decide(Subject("write", "writes", {"path": path})).action == "ask"
    assert Rules(allow=["write(path=*)"]).decide(Subject("write", "writes", {"path": path})).action == "allow"


@pytest.mark.parametrize("path", ["secrets/a", "./secrets/a", "docs/../secrets/a", "secrets//a", "secrets/./a"])
def test_deny_sees_through_ways_of_writing_a_path(path: str) -> None:
    assert Rules(deny=["look(path=secrets/*)"]).decide(Subject("look", "reads", {"path": path})).action == "deny"


def test_values_that_are_no_texts_are_matched_as_json() -> None:
    subject = Subject("x", "writes", {"n": 5, "yes": True, "items": ["a", "b"], "none": None, "more": {"k": 1}})
    for pattern in ("x(n=5)", "x(yes=true)", "x(items=a b)", "x(none=null)", 'x(more=*"k": 1*)'):
        assert Rules(deny=[pattern]).decide(subject).action == "deny"
    assert Rules(deny=["x(n=6)", "x(yes=True)", "x(other=*)"]).decide(subject).action == "ask"


def test_what_the_tool_makes_of_a_value_counts_too() -> None:
    subject = Subject("x", "writes", {"recursive": "yes"}, {"recursive": "true"})
    assert Rules(deny=["x(recursive=true)"]).decide(subject).action == "deny"
    assert Rules(deny=["x(recursive=yes)"]).decide(subject).action == "deny"
    assert Rules(allow=["x(recursive=yes)"]).decide(subject).action == "ask"
    assert Rules(allow=["x(recursive=*)"]).decide(subject).action == "allow"


@pytest.mark.parametrize(
    "text", ["a", "write_*", "*", "a-b", "[abc]_x", "[!a]x", "a(b=c)", "a(b=)", "a(b=c=d)(e))", "a(b=*\n*)"]
)
def test_patterns_that_are_understood(text: str) -> None:
    assert parse_pattern(text).text == text


@pytest.mark.parametrize(
    "text",
    ["", " a", "a b", "a(", "a()", "a(b)", "a(=c)", "a(b=c", "a(b=c) ", "(b=c)", "a[b", "a]b", "a!", "a.b", "ä b"],
)
def test_patterns_that_are_not_understood(text: str) -> None:
    with pytest.raises(ValueError, match=r"^pattern '"):
        parse_pattern(text)


@given(st.text(max_size=40), st.text(max_size=40))
def test_deciding_is_total_and_allow_never_beats_deny(glob: str, value: str) -> None:
    pattern = f"sh(command={glob})"
    subject = Subject("sh", "runs_code", {"command": value})
    allowed = Rules(allow=[pattern]).decide(subject).action == "allow"
    denied = Rules(deny=[pattern], allow=["sh"]).decide(subject).action == "deny"
    assert denied or not allowed
