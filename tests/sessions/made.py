"""What the tests of sessions share: any value a session may hold, and the event streams of short conversations."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from hookagent.events import (
    AgentStart,
    MessageEnd,
    ResponseReceived,
    ToolEnd,
    ToolStart,
    TurnEnd,
    TurnStart,
)
from hookagent.frozen import FrozenDict, freeze
from hookagent.messages import (
    STOP_REASONS,
    AssistantMessage,
    Image,
    ProviderPart,
    TextPart,
    ToolCall,
    ToolResult,
    UserMessage,
)
from hookagent.sessions.journal import Journal
from hookagent.sessions.open_calls import OpenCall
from hookagent.sessions.record_kinds import (
    BookedRecord,
    CompactionRecord,
    ErrorRecord,
    ForkRecord,
    HookRecord,
    PluginStateRecord,
    QueuedRecord,
    ReplyRecord,
    ResponseRecord,
    ResultRecord,
    RunStartRecord,
    StartRecord,
    TakenRecord,
    TurnEndRecord,
    TurnStartRecord,
    UserRecord,
    WaitingRecord,
)
from hookagent.transcript import Transcript
from hookagent.usage import Usage
from hookagent.verdicts import Amend, Deny, Stop, Suspend

TEXTS = st.one_of(
    st.sampled_from(["", " ", "\n\t\r", "é漢🙂", "a\ud800b", "\udc00", "\x00", "\u2028", "\ufeff", "$number"]),
    st.text(st.characters(codec=None), max_size=8),
)
NUMBERS = st.floats(allow_nan=False) | st.sampled_from([-0.0, 1e300, 5e-324, float("inf"), float("-inf")])
LEAVES = st.none() | st.booleans() | st.integers() | st.integers(2**1030, 2**1040) | NUMBERS | TEXTS
JSON = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(TEXTS, inner, max_size=3)
        | st.dictionaries(st.sampled_from(["$number", "$object", "$marked"]), inner, max_size=2)
    ),
    max_leaves=8,
)
OBJECTS = st.dictionaries(TEXTS, JSON, max_size=3).map(freeze)
FINITE = st.floats(0, 1e9, allow_nan=False)
USAGES = st.builds(
    Usage,
    *(st.integers(0, 10**12) for _ in range(4)),
    cost_usd=st.none() | FINITE,
    requests=st.integers(0, 50),
)
IMAGES = st.builds(Image, TEXTS, TEXTS)
USERS = st.builds(
    UserMessage,
    TEXTS,
    st.lists(IMAGES, max_size=2).map(tuple),
    st.none() | TEXTS,
    st.sampled_from(["prompt", "steer", "follow_up", "plugin"]),
)
CALLS = st.builds(ToolCall, TEXTS, TEXTS, st.none() | OBJECTS, st.none() | TEXTS, st.none() | TEXTS)
PARTS = st.one_of(st.builds(TextPart, TEXTS), st.builds(ProviderPart, TEXTS, TEXTS, JSON.map(freeze), TEXTS), CALLS)
REPLIES = st.builds(
    AssistantMessage,
    st.lists(PARTS, max_size=4).map(tuple),
    st.sampled_from(sorted(STOP_REASONS)),
    USAGES,
    TEXTS,
    TEXTS,
    TEXTS,
)
STATUSES = st.sampled_from(["ok", "error", "denied", "not_run", "interrupted"])
RESULTS = st.builds(ToolResult, TEXTS, st.booleans(), STATUSES, TEXTS, st.none() | TEXTS, st.none() | FINITE)
VERDICTS = st.one_of(
    st.builds(Stop, TEXTS), st.builds(Deny, TEXTS, st.booleans()), st.builds(Suspend, TEXTS), st.builds(Amend, OBJECTS)
)
PAIRS = st.tuples(TEXTS, TEXTS)
OPEN_CALLS = st.builds(
    OpenCall,
    CALLS,
    CALLS,
    st.none() | VERDICTS,
    TEXTS,
    st.lists(PAIRS, max_size=2).map(tuple),
    st.none() | PAIRS,
    st.none() | TEXTS.filter(bool),
    st.booleans(),
    st.booleans(),
)
COUNTS = st.integers(0, 10**9)
RECORDS = st.one_of(
    st.builds(RunStartRecord, TEXTS, TEXTS),
    st.builds(TurnStartRecord, COUNTS, TEXTS),
    st.builds(UserRecord, USERS, st.none() | COUNTS),
    st.builds(ResponseRecord, USAGES, TEXTS, FINITE),
    st.builds(ReplyRecord, REPLIES),
    st.builds(StartRecord, CALLS),
    st.builds(ResultRecord, RESULTS),
    st.builds(WaitingRecord, st.lists(OPEN_CALLS, max_size=2).map(tuple)),
    st.builds(HookRecord, TEXTS, TEXTS, TEXTS, TEXTS, FINITE),
    st.builds(CompactionRecord, TEXTS, COUNTS, COUNTS, st.booleans(), COUNTS, st.none() | TEXTS),
    st.builds(ErrorRecord, TEXTS, TEXTS, TEXTS),
    st.builds(TurnEndRecord, COUNTS, TEXTS, TEXTS, USAGES, FINITE),
    st.builds(QueuedRecord, COUNTS, USERS),
    st.builds(TakenRecord, COUNTS),
    st.builds(PluginStateRecord, TEXTS, JSON.map(freeze)),
    st.builds(BookedRecord, TEXTS, USAGES),
    st.builds(ForkRecord, TEXTS, COUNTS),
)


class Teller:
    """Tells a journal the events of a conversation, numbered as a session numbers them."""

    def __init__(self, *listeners: Any) -> None:
        self.listeners = listeners
        self.number = 0
        self.turn = 0
        self.seconds = 0.0

    def tell(self, kind: Any, *fields: Any) -> None:
        self.number += 1
        self.seconds += 0.25
        event = kind(self.number, self.seconds, self.turn, 1, *fields)
        for listener in self.listeners:
            listener(event)

    def begin(self, prompt: str = "go") -> None:
        """A run and a turn begin, with a prompt."""
        self.tell(AgentStart, "tested", "scripted:test")
        self.turn += 1
        self.tell(TurnStart, prompt)
        if prompt:
            self.user(prompt)

    def user(self, text: str, **fields: Any) -> None:
        self.tell(MessageEnd, UserMessage(text, **fields))

    def reply(self, text: str = "", *calls: str, **arguments: Any) -> AssistantMessage:
        """A model call, and its reply: `calls` are ids of calls of the tool 'look'."""
        parts: tuple[Any, ...] = ((TextPart(text),) if text else ()) + tuple(look(one, **arguments) for one in calls)
        message = AssistantMessage(parts, "tool_calls" if calls else "end", Usage(10, 0, 0, 5, 0.001, 1))
        self.tell(ResponseReceived, message.usage, message.stop_reason, 12.0)
        self.tell(MessageEnd, message)
        return message

    def start(self, call_id: str, **arguments: Any) -> None:
        self.tell(ToolStart, look(call_id, **arguments))

    def result(self, call_id: str, content: str = "seen") -> None:
        self.tell(ToolEnd, look(call_id), ToolResult(content, call_id=call_id))

    def call(self, call_id: str, content: str = "seen") -> None:
        self.start(call_id)
        self.result(call_id, content)

    def end(self, status: str = "completed", answer: str = "done") -> None:
        self.tell(TurnEnd, status, answer, Usage(10, 0, 0, 5, 0.001, 1))


def look(call_id: str, **arguments: Any) -> ToolCall:
    frozen: FrozenDict = freeze(arguments)
    return ToolCall(call_id, "look", frozen)


def journal_for(store: Any, session_id: str = "one", **options: Any) -> tuple[Journal, Teller]:
    """A new journal that begins in the folder of the store, and who tells it of events."""
    options.setdefault("cwd", str(store.database.folder))
    options.setdefault("environment", {})
    journal = Journal(store, session_id, **options)
    return journal, Teller(journal)


def words(transcript: Transcript) -> list[str]:
    """The flat list of messages, one short text each."""
    out = []
    for message in transcript.messages():
        if isinstance(message, UserMessage):
            out.append(f"U {message.text}" + (f" <{message.origin}>" if message.origin else ""))
        elif isinstance(message, ToolResult):
            out.append(f"R {message.call_id} {message.status}")
        else:
            out.append("A " + " ".join([*(one.id for one in message.tool_calls), message.text]).strip())
    return out
