"""Replies of models with bytes lost, changed and doubled, through the real SDKs: a failed run, or a good one."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from typing import get_args

import httpx2
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from checks.tally import FULL, count, size
from hookagent import Agent, RunResult
from hookagent.errors import ProviderErrorKind
from hookagent.messages import AssistantMessage
from hookagent.providers import RetryPolicy
from hookagent.testing import WireError
from hookagent.testing.plugin_check.judging import disorder
from hookagent.transcript import ToolRound, Transcript
from tests.fuzz.effort import counted
from tests.fuzz.streams import PROVIDERS, REPLIES, Transport, body_of, damaged, events_of

KNOWN_TYPES = (
    "text thinking redacted_thinking tool_use server_tool_use tool_result message reasoning function_call refusal "
    "function_call_output output_text input_text image"
).split()
STREAM = "text/event-stream; charset=utf-8"
GOT: list[tuple[str, int]] = []
WIRES = pytest.mark.parametrize("wire", list(PROVIDERS))

fuzzed = settings(
    max_examples=size(25, 1000),
    deadline=None,
    derandomize=not FULL,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)


async def look(item: str, n: int = 1) -> str:
    """Look at something."""
    GOT.append((item, n))
    return f"{item} is there"


class Bench:
    """One event loop with one client for each wire form."""

    def __init__(self, runner: asyncio.Runner) -> None:
        self.runner = runner
        self.transports = {wire: Transport(wire) for wire in PROVIDERS}
        self.clients = {wire: httpx2.AsyncClient(transport=one) for wire, one in self.transports.items()}

    def run(self, wire: str, *answers: tuple[bytes, int, bool, str]) -> tuple[RunResult, Agent]:
        """Ask an agent twice, the second time with good answers; both are checked for all that always holds."""
        counted()
        GOT.clear()
        transport = self.transports[wire]
        good = (b"".join(events_of(wire, "text")), 4096, False, STREAM)
        transport.answers[:] = [*answers, good, good, good]
        transport.refused.clear()
        transport.requests.clear()
        agent = Agent(
            "fuzzed",
            tools=[look],
            model=PROVIDERS[wire](self.clients[wire]),
            log=False,
            quiet=True,
            limits={"max_iterations": 3},
            retry_policy=RetryPolicy(max_attempts=1),
        )
        result = self.runner.run(agent.run("go"))
        check(result, agent, transport)
        again = self.runner.run(agent.run("and now?"))
        check(again, agent, transport)
        assert again.status == "completed"
        assert again.answer == REPLIES["text"].text
        count("requests checked", len(transport.requests))
        return result, agent


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with asyncio.Runner() as runner:
        made = Bench(runner)
        yield made
        for client in made.clients.values():
            runner.run(client.aclose())


def check(result: RunResult, agent: Agent, transport: Transport) -> None:
    """Whatever came: a status of ours, an error of a kind of ours, a valid transcript, and no request refused."""
    assert result.status in ("completed", "failed", "limit", "stopped"), result
    if result.status == "failed":
        assert result.reason
        assert result.error_kind in (*get_args(ProviderErrorKind), None)
        assert "Traceback" not in result.reason
        assert len(result.reason) < 5_000
    assert (result.errors, result.warnings) == ((), ())
    transcript = agent.session.transcript
    assert transcript.open_round is None
    assert list(disorder(Transcript(list(transcript)).messages())) == []
    assert [str(error) for error in transport.refused if not of_an_unknown_kind(error)] == []
    for block in transcript:
        reply = block.reply if isinstance(block, ToolRound) else block
        if isinstance(reply, AssistantMessage):
            usage = reply.usage
            counts = (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens, usage.output_tokens)
            assert all(type(count) is int and count >= 0 for count in counts), usage


def of_an_unknown_kind(error: WireError) -> bool:
    """Whether it is about a type, field, status or id that nobody knows: what a vendor invents goes back as it came."""
    found = re.search(r"is of type '(\w*)'", error.message)
    unknown = error.rule == "content-shape" and found is not None and found[1] not in KNOWN_TYPES
    status = error.rule == "content-shape" and ".status is" in error.message
    return unknown or status or error.rule in ("unknown-field", "item-id")


PIECES = st.sampled_from([1, 7, 64, 4096])


@WIRES
@pytest.mark.parametrize("reply", REPLIES)
def test_damaged_streams(wire: str, reply: str, bench: Bench) -> None:
    events = events_of(wire, reply)

    @fuzzed
    @given(data=damaged(events), piece=PIECES, breaks=st.booleans())
    @example(data=b"", piece=1, breaks=False)
    @example(data=b"".join(events[:-1]), piece=1, breaks=False)
    @example(data=b"".join(events), piece=1, breaks=True)
    @example(data=b"".join(events + events), piece=64, breaks=False)
    @example(data=b"".join(reversed(events)), piece=64, breaks=False)
    def check_one(data: bytes, piece: int, breaks: bool) -> None:
        result, _ = bench.run(wire, (data, piece, breaks, STREAM))
        if data == b"".join(events) and not breaks and reply != "cut":
            assert result.status == "completed"

    check_one()


@WIRES
@pytest.mark.parametrize("count", ["-1", "null", "true", '"7"', "7.0", "1e400", "[]", "{}"])
def test_counts_of_tokens_that_are_none_cost_no_reply(wire: str, count: str, bench: Bench) -> None:
    whole = b"".join(events_of(wire, "text"))
    damaged_counts = re.sub(rb'("(?!max)[a-z_]+_tokens": )\d+', rb"\g<1>" + count.encode(), whole)
    assert damaged_counts != whole
    result, _ = bench.run(wire, (damaged_counts, 4096, False, STREAM))
    assert (result.status, result.answer) == ("completed", REPLIES["text"].text), result.reason


@WIRES
@pytest.mark.parametrize("reply", ["calls", "thinking", "redacted"])
def test_half_a_character_anywhere_in_a_reply_spoils_no_later_request(wire: str, reply: str, bench: Bench) -> None:
    whole = b"".join(events_of(wire, reply))
    for found in re.finditer(rb': "([^"\\]*)"', whole):
        bench.run(wire, (whole[: found.start(1)] + rb"\ud800" + whole[found.end(1) :], 4096, False, STREAM))


@WIRES
def test_a_stream_that_is_cut_anywhere_runs_none_of_its_calls(wire: str, bench: Bench) -> None:
    whole = b"".join(events_of(wire, "calls"))
    # The last event of Chat Completions says nothing that a reply needs, so there the cut is before what does.
    end = whole.rindex(b'"finish_reason": "tool_calls"') if wire == "chat" else whole.rindex(b"event: ")
    step = size(97, 3)
    for cut in range(0, end, step):
        result, agent = bench.run(wire, (whole[:cut], 4096, False, STREAM))
        assert GOT == [], cut
        assert result.status == "failed", cut
        assert len(agent.session.transcript) == 3, cut  # what was asked, what was asked then, and its answer


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'"type": "tool_use"', b'"typ": "tool_use"'),
        (b'"type": "tool_use"', b'"type": null'),
        (b'"type": "text", "text": ""', b'"type": "server_tool_use"'),
        (b'"type": "text", "text": ""', b'"type": "web_search_tool_result", "content": []'),
        (b'"type": "text", "text": ""', b'"type": "tool_result", "tool_use_id": "x"'),
    ],
)
def test_a_block_that_could_never_go_back_fails_its_reply_alone(before: bytes, after: bytes, bench: Bench) -> None:
    data = b"".join(events_of("messages", "calls"))
    assert before in data
    result, _ = bench.run("messages", (data.replace(before, after), 4096, False, STREAM))
    assert (result.status, result.error_kind) == ("failed", "response")
    assert GOT == []


@WIRES
@pytest.mark.parametrize("reply", ["text", "calls"])
def test_damaged_whole_replies(wire: str, reply: str, bench: Bench) -> None:
    body = body_of(wire, reply)

    @fuzzed
    @given(
        data=damaged([body]) | st.binary(max_size=40), kind=st.sampled_from(["application/json", STREAM, "text/html"])
    )
    def check_one(data: bytes, kind: str) -> None:
        bench.run(wire, (data, 4096, False, kind))

    check_one()
