"""The faults of the strict server as the OpenAI SDK meets them."""

from __future__ import annotations

from typing import Any

import httpx2
import openai
import pytest

from hookagent.testing import Fault, Reply, StrictServer

RESPONSES: dict[str, Any] = {"model": "gpt-5", "input": "go"}
CHAT: dict[str, Any] = {"model": "gpt-5", "messages": [{"role": "user", "content": "go"}]}
WIRES = pytest.mark.parametrize("wire", ["responses", "chat"])


def create(server: StrictServer, wire: str, **changes: Any) -> Any:
    with openai.OpenAI(api_key="k", base_url=server.openai_url, max_retries=0) as sdk:
        if wire == "responses":
            answer: Any = sdk.responses.create(**(RESPONSES | changes))
        else:
            answer = sdk.chat.completions.create(**(CHAT | changes))
        if not changes.get("stream"):
            return answer
        with answer:
            return list(answer)


def stream_events(server: StrictServer, wire: str) -> list[Any]:
    events: list[Any] = create(server, wire, stream=True)
    return events


@WIRES
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault(status=429, retry_after="1"), openai.RateLimitError),
        (Fault(status=500), openai.InternalServerError),
        (Fault(status=503), openai.InternalServerError),
        (Fault(status=400, code="context_length_exceeded"), openai.BadRequestError),
        (Fault(kind="drop"), openai.APIConnectionError),
    ],
)
def test_faults_instead_of_a_reply(wire: str, stream: bool, fault: Fault, error: type[Exception]) -> None:
    with StrictServer([fault, Reply("well")]) as server:
        with pytest.raises(error) as caught:
            create(server, wire, stream=stream)
        assert create(server, wire, stream=stream)

    if isinstance(caught.value, openai.APIStatusError):
        assert caught.value.response.headers.get("retry-after") == fault.retry_after
        assert fault.code in {None, caught.value.code}


def test_an_error_event_inside_a_stream() -> None:
    fault = Fault(kind="error_event", status=503, message="busy", after=3)
    with StrictServer(
        [Reply("The answer is 4", fault=fault)] * 2 + [Fault(kind="error_event", message="busy")]
    ) as server:
        events = stream_events(server, "responses")
        for _ in range(2):
            with pytest.raises(openai.APIError, match="busy"):
                stream_events(server, "chat")

    assert (events[-1].type, events[-1].message, events[-1].sequence_number) == ("error", "busy", 3)


def test_a_cut_stream_ends_without_its_closing_events() -> None:
    with StrictServer([Reply("The answer is 4", fault=Fault(kind="cut"))] * 2) as server:
        events = stream_events(server, "responses")
        chunks = stream_events(server, "chat")

    assert events[-1].type == "response.output_item.done"
    assert all(chunk.choices[0].finish_reason is None for chunk in chunks)


@WIRES
def test_a_dropped_stream_is_a_broken_connection(wire: str) -> None:
    with (
        StrictServer([Reply("The answer is 4", fault=Fault(kind="drop", after=2))]) as server,
        pytest.raises((httpx2.RemoteProtocolError, openai.APIConnectionError)),
    ):
        stream_events(server, wire)


@pytest.mark.parametrize("choices", [None, []])
def test_empty_and_null_choices_are_sent_literally(choices: list[Any] | None) -> None:
    raw = {"id": "x", "object": "chat.completion", "choices": choices}
    with StrictServer([Reply(raw=raw), Reply(raw=raw), Reply(raw='{"error": {"message": "busy"}}')]) as server:
        assert create(server, "chat").choices == choices
        assert [chunk.choices for chunk in stream_events(server, "chat")] == [choices]
        assert create(server, "chat").to_dict() == {"error": {"message": "busy"}}
