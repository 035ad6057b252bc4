"""What the strict server says to clients that are no SDK."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import pytest

from hookagent.testing import Reply, StrictServer

KEY = {"authorization": "Bearer k"}
VERSION = {"anthropic-version": "2026-10-21"}
CHAT = {"model": "m", "messages": [{"role": "user", "content": "go"}]}


def send(
    server: StrictServer, path: str, body: bytes, headers: Mapping[str, str], method: str = "POST"
) -> tuple[int, Any]:
    address = urlsplit(server.url)
    connection = http.client.HTTPConnection(str(address.hostname), address.port)
    try:
        connection.request(method, path, body, dict(headers))
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


@pytest.mark.parametrize("body", [b"", b"{", b'{"model": NaN}', b"[]", b'{"model": "\xff"}'])
def test_a_body_that_is_no_json_object_is_refused(body: bytes) -> None:
    with StrictServer([Reply("hi")]) as server:
        status, answer = send(server, "/v1/chat/completions", body, KEY)

    assert status == 400
    assert answer["error"]["code"] == "json"
    assert server.requests == []
    assert server.remaining == 1


def test_errors_have_the_shape_of_the_vendor() -> None:
    with StrictServer() as server:
        answers = [
            send(server, "/v1/messages", b"{}", VERSION),
            send(server, "/v1/messages", b"{}", KEY),
            send(server, "/v1/messages", b"{}", KEY | VERSION),
            send(server, "/v1/nothing", b"{}", KEY | VERSION),
            send(server, "/v1/responses", b"{}", {}),
            send(server, "/v1/responses", b"{}", KEY),
            send(server, "/v1/nothing", b"{}", KEY),
            send(server, "/v1/responses", b"", KEY, method="GET"),
        ]

    assert [status for status, _ in answers] == [401, 400, 400, 404, 401, 400, 404, 405]
    assert [answer["error"]["type"] for _, answer in answers[:4]] == [
        "authentication_error",
        "invalid_request_error",
        "invalid_request_error",
        "not_found_error",
    ]
    assert answers[2][1]["error"]["message"] == "model: model is required and is a text"
    assert answers[5][1]["error"] == {
        "message": "model is required and is a text",
        "type": "invalid_request_error",
        "param": None,
        "code": "model",
    }


def test_a_lone_surrogate_is_refused_on_the_wire() -> None:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "cut \ud83d"}]}).encode()
    with StrictServer([Reply("hi")]) as server:
        _, answer = send(server, "/v1/chat/completions", body, KEY)

    assert (answer["error"]["code"], answer["error"]["param"]) == ("json-text", "messages[0]")
    assert server.refused[0].request.body["model"] == "m"


def test_a_stream_is_named_events_or_data_lines_as_the_vendor_has_it() -> None:
    with StrictServer([Reply("hi")] * 2) as server:
        address = urlsplit(server.url)
        connection = http.client.HTTPConnection(str(address.hostname), address.port)
        connection.request("POST", "/v1/chat/completions", json.dumps(CHAT | {"stream": True}), KEY)
        chat = connection.getresponse().read().decode()
        ask = CHAT | {"stream": True, "max_tokens": 5}
        connection.request("POST", "/v1/messages", json.dumps(ask), KEY | VERSION)
        messages = connection.getresponse().read().decode()
        connection.close()

    assert chat.endswith("data: [DONE]\n\n")
    assert "event:" not in chat
    assert messages.endswith('event: message_stop\ndata: {"type": "message_stop"}\n\n')
    assert [line.split(": ")[1] for line in messages.splitlines() if line.startswith("event")][:2] == [
        "message_start",
        "ping",
    ]


def test_no_thread_stays_behind() -> None:
    before = threading.active_count()
    for _ in range(3):
        with StrictServer([Reply("hi")]) as server:
            assert send(server, "/v1/chat/completions", json.dumps(CHAT).encode(), KEY)[0] == 200

    assert threading.active_count() == before
