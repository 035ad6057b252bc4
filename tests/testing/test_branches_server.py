"""The strict server's faults where nothing is streamed, scripts that grow or ask too much, and its keys."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import pytest

from hookagent.testing import Fault, Reply, StrictServer

CHAT = "/v1/chat/completions"
KEY = {"authorization": "Bearer k"}


def send(
    server: StrictServer, path: str = CHAT, headers: Mapping[str, str] = KEY, **more: Any
) -> tuple[int, dict[str, Any]]:
    address = urlsplit(server.url)
    body = {"model": "m", "messages": [{"role": "user", "content": "go"}], **more}
    connection = http.client.HTTPConnection(str(address.hostname), address.port)
    try:
        connection.request("POST", path, json.dumps(body), dict(headers))
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


BUSY = Fault(kind="error_event", status=503, message="busy", code="overloaded", retry_after="2")


@pytest.mark.parametrize("answer", [BUSY, Reply("well", fault=BUSY), Reply(raw='{"literal": 1}', fault=BUSY)])
def test_an_error_event_is_an_http_error_where_nothing_is_streamed(answer: Any) -> None:
    with StrictServer([answer, Reply("well")]) as server:
        status, told = send(server)
        assert send(server)[1]["choices"][0]["message"]["content"] == "well"

    assert (status, told["error"]["message"], told["error"]["code"]) == (503, "busy", "overloaded")
    assert server.failures == []


@pytest.mark.parametrize("answer", [Fault(kind="cut"), Reply("well", fault=Fault(kind="cut"))])
def test_a_cut_breaks_off_where_nothing_is_streamed(answer: Any) -> None:
    with StrictServer([answer, Reply("well")]) as server:
        with pytest.raises((http.client.HTTPException, ConnectionError)):
            send(server)
        assert send(server)[0] == 200

    assert len(server.requests) == 2


@pytest.mark.parametrize("after", [-1, 1_000])
def test_a_fault_behind_more_events_than_there_are_is_a_mistake_of_the_script(after: int) -> None:
    with StrictServer([Reply("well", fault=Fault(kind="drop", after=after))]) as server:
        status, told = send(server, stream=True)

    assert (status, told["error"]["code"]) == (500, "script")
    assert told["error"]["message"].startswith(f"Fault: after={after}, but the stream has ")


def test_a_script_grows_while_the_server_runs() -> None:
    with StrictServer([Reply("first")]) as server:
        assert send(server)[0] == 200
        status, told = send(server)
        assert (status, told["error"]["message"]) == (500, "the script has no reply left: all 1 were used")
        server.extend([Reply("second"), Reply("third")])
        assert server.remaining == 2
        assert send(server)[1]["choices"][0]["message"]["content"] == "second"
        assert server.remaining == 1


@pytest.mark.parametrize(
    ("key", "status"),
    [
        ({"x-api-key": "right"}, 200),
        ({"x-api-key": "wrong"}, 401),
        ({"authorization": "Bearer right"}, 200),
        ({"authorization": "Basic right"}, 401),
    ],
)
def test_a_key_comes_in_the_headers_that_the_vendor_knows(key: dict[str, str], status: int) -> None:
    with StrictServer([Reply("well")], api_key="right") as server:
        headers = {"anthropic-version": "2026-10-21", **key}
        assert send(server, "/v1/messages", headers, max_tokens=5)[0] == status

    assert len(server.requests) == (status == 200)
    assert "right" not in str([one.headers for one in server.requests])


def test_a_key_of_one_vendor_is_none_of_the_others() -> None:
    with StrictServer([Reply("well")]) as server:
        assert send(server, headers={"x-api-key": "right"})[0] == 401
