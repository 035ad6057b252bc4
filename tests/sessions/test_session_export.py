"""Sessions as text: every record as JSON, or what was said as YAML or Markdown."""

from __future__ import annotations

import json
import re
from typing import Literal

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookagent.messages import UserMessage
from hookagent.sessions.errors import SessionError
from hookagent.sessions.records import decode_record
from hookagent.sessions.store import SessionStore
from tests.sessions.made import RECORDS, TEXTS, journal_for


def told(store: SessionStore) -> None:
    journal, teller = journal_for(store)
    teller.begin("look `here`\n```\ncode\n```\n# no heading")
    teller.reply("so", "c1", path="a")
    teller.call("c1", "seen ````x````")
    teller.reply("an answer")
    journal.queued(UserMessage("wait", via="follow_up"))
    teller.end()
    teller.begin("more")
    teller.reply("", "c2")
    teller.start("c2")
    journal.close()


def test_json_lines_hold_every_record_as_it_is(store: SessionStore) -> None:
    told(store)
    lines = [json.loads(line) for line in store.export("one", "jsonl").splitlines()]
    assert lines[0]["kind"] == "session"
    assert lines[0]["session"] == "one"
    records = store.read("one")
    assert len(lines) == len(records) + 1
    for line, record in zip(lines[1:], records, strict=True):
        assert (line["number"], line["time"], line["kind"]) == record[:3]
        assert decode_record(line["kind"], json.dumps(line["data"])) == decode_record(record.kind, record.data)


def test_yaml_holds_what_was_said(store: SessionStore) -> None:
    told(store)
    loaded = yaml.safe_load(store.export("one", "yaml"))
    assert (loaded["session"], loaded["agent"], loaded["model"]) == ("one", "tested", "scripted:test")
    assert loaded["tokens"] == {"input": 30, "cache_read": 0, "cache_write": 0, "output": 15}
    roles = [message["role"] for message in loaded["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant", "user", "assistant", "tool"]
    assert loaded["messages"][-1]["status"] == "interrupted"
    assert loaded["queued"] == [{"role": "user", "text": "wait", "via": "follow_up"}]
    assert "problems" not in loaded


def test_markdown_shows_texts_as_they_are_and_lets_none_out(store: SessionStore) -> None:
    told(store)
    text = store.export("one", "markdown")
    assert text.startswith("# Session one\n")
    # What stands outside of all fences is ours.
    outside = re.sub(r"(?ms)^(`{3,})\w*\n.*?^\1\n", "", text)
    assert "no heading" not in outside
    assert "code" not in outside
    assert [line for line in outside.splitlines() if line.startswith("#")] == [
        *("# Session one", "## User", "## Assistant", "### Call `look` (`c1`)", "### Result `c1`: ok", "## Assistant"),
        *("## User", "## Assistant", "### Call `look` (`c2`)", "### Result `c2`: interrupted"),
    ]
    assert "`````\nseen ````x````\n`````" in text
    assert '"path": "a"' in text


def test_a_fork_says_where_it_came_from(store: SessionStore) -> None:
    told(store)
    store.fork("one", at_turn=1, new_id="two")
    assert yaml.safe_load(store.export("two", "yaml"))["forked_from"].startswith("one, record ")


def test_damaged_records_are_named(store: SessionStore) -> None:
    told(store)
    with store.database.using() as connection:
        connection.execute("UPDATE records SET data = '{\"v\":' WHERE place & 4294967295 = 4")
    lines = [json.loads(line) for line in store.export("one", "jsonl").splitlines()]
    assert "not the JSON that was written" in lines[4]["damaged"]
    assert lines[4]["data"] is None
    assert len(yaml.safe_load(store.export("one", "yaml"))["problems"]) == 1
    assert "## Problems" in store.export("one", "markdown")


@pytest.mark.parametrize("form", ["jsonl", "yaml", "markdown"])
def test_a_time_that_cannot_be_is_unknown(store: SessionStore, form: Literal["jsonl", "yaml", "markdown"]) -> None:
    told(store)
    with store.database.changing() as connection:
        connection.execute("UPDATE sessions SET created = 1e300")
    assert "unknown" in store.export("one", form)


def test_an_unknown_form_or_session_is_said(store: SessionStore) -> None:
    told(store)
    with pytest.raises(SessionError, match="export form 'pdf': expected 'jsonl', 'yaml' or 'markdown'"):
        store.export("one", "pdf")  # type: ignore[arg-type]
    with pytest.raises(SessionError, match="session 'other': there is none"):
        store.export("other", "yaml")


@given(st.lists(RECORDS, max_size=6), TEXTS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_session_can_be_exported(
    tmp_path_factory: pytest.TempPathFactory, records: list[object], prompt: str
) -> None:
    from hookagent.sessions.records import encode_record
    from hookagent.sessions.writer import NewSession

    store = SessionStore(tmp_path_factory.mktemp("home"))
    with store.writer("one", NewSession(prompt.encode("utf-8", "replace").decode(), "m", "/")) as writer:
        writer.append([(1.0, *encode_record(record)) for record in records])  # type: ignore[arg-type]
    for line in store.export("one", "jsonl").splitlines():
        json.loads(line)
    assert yaml.safe_load(store.export("one", "yaml"))["session"] == "one"
    store.export("one", "markdown").encode("utf-8", "surrogatepass")
    store.close()
