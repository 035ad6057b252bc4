"""The HTTP side of the strict server: reads one request, asks the server what to answer, and writes that.

Everything a client can see of a fault is made here: error statuses, streams cut short, connections that break.
"""

from __future__ import annotations

import json
import socket
import socketserver
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, ClassVar

from hookagent.testing.server.rendering import StreamEvent


@dataclass(frozen=True, slots=True)
class Response:
    """What to write: a whole body, or stream events.

    `broken` breaks the connection at the end instead of completing the answer; `pause_at` waits for a release after so
    many events (before the body, where there are no events), `held` even before the headers.
    """

    status: int = 200
    body: bytes = b""
    events: Iterable[StreamEvent] | None = None
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    broken: bool = False
    pause_at: int | None = None
    held: bool = False


Answerer = Callable[[str, str, Mapping[str, str], bytes], Response]


class LoopbackServer(socketserver.ThreadingMixIn, HTTPServer):
    """A threaded HTTP server on 127.0.0.1 and a free port.

    `answer(method, path, headers, body)` decides each answer; an exception it lets out is kept in `failures` and the
    connection is broken. `close` ends all connections, also those that wait in a stall.
    """

    daemon_threads = True
    # Many clients at once: with the default of 5 their connections would wait for a repeated handshake.
    request_queue_size = 128
    _POLL_SECONDS: ClassVar = 0.01

    def __init__(self, answer: Answerer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.failures: list[BaseException] = []
        self.released = threading.Event()
        self._connections: dict[int, tuple[socket.socket, threading.Thread]] = {}
        self._lock = threading.Lock()
        self._accepting = threading.Thread(target=self.serve_forever, args=(self._POLL_SECONDS,), daemon=True)

    def start(self) -> None:
        """Begin to accept connections."""
        self._accepting.start()

    def close(self) -> None:
        """Stop accepting, end what is still open, and wait for the threads."""
        self.shutdown()
        self._accepting.join()
        self.released.set()
        with self._lock:
            connections = list(self._connections.values())
        for connection, thread in connections:
            _break(connection)
            thread.join(timeout=5)
        self.server_close()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection in a thread of its own, and remember both."""
        thread = threading.Thread(target=self._serve, args=(request, client_address), daemon=True)
        with self._lock:
            self._connections[id(request)] = (request, thread)
        thread.start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Leave out the traceback: a client that went away is no fault, and ours are in `failures`."""

    def _serve(self, request: Any, client_address: Any) -> None:
        try:
            self.process_request_thread(request, client_address)
        finally:
            with self._lock:
                self._connections.pop(id(request), None)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: LoopbackServer

    def do_POST(self) -> None:
        self._serve()

    def do_GET(self) -> None:
        self._serve()

    def log_message(self, format: str, *args: Any) -> None:
        """Keep standard error clean."""

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            response = self.server.answer(self.command, self.path, headers, body)
        except Exception as error:
            self.server.failures.append(error)
            response = Response(broken=True)
        try:
            self._write(response)
        except OSError:
            # The client left, or the server closes.
            self.close_connection = True

    def _write(self, response: Response) -> None:
        if response.held or (response.pause_at is not None and response.events is None):
            self.server.released.wait()
        if response.broken and response.events is None and not response.body:
            self._break()
            return
        self.send_response(response.status)
        self.send_header("content-type", response.content_type)
        for name, value in response.headers.items():
            self.send_header(name, value)
        if response.events is None:
            self.send_header("content-length", str(len(response.body)))
            self.end_headers()
            self.wfile.write(response.body[: len(response.body) // 2] if response.broken else response.body)
        else:
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            self._write_events(response.events, response.pause_at)
            if not response.broken:
                self.wfile.write(b"0\r\n\r\n")
        if response.broken:
            self._break()

    def _write_events(self, events: Iterable[StreamEvent], pause_at: int | None) -> None:
        for position, event in enumerate(events):
            if position == pause_at:
                self.server.released.wait()
            chunk = event.encoded()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))

    def _break(self) -> None:
        self.close_connection = True
        _break(self.connection)


def json_response(status: int, body: Any, headers: Mapping[str, str] | None = None) -> Response:
    """Make a response of a JSON body."""
    return Response(status, json.dumps(body).encode(), headers=headers or {})


def _break(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        # It is broken already.
        return
