"""The strict local server: real SDKs talk to it, and it refuses what a provider would refuse.

Design, testing: every request of a test goes through the whole checkers, on all wire forms, streaming and not.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NoReturn, Self

from hookagent.testing.server.faults import respond
from hookagent.testing.server.http import LoopbackServer, Response, json_response
from hookagent.testing.server.rendering import fresh_id
from hookagent.testing.server.replies import Answer, Script, ScriptError, Step
from hookagent.testing.server.signing import TranscriptSigner
from hookagent.testing.server.wire_forms import WIRE_FORMS, WireForm
from hookagent.testing.wire import MESSAGES, Wire, WireError, check_request
from hookagent.testing.wire.anthropic_messages import SAMPLING_FIELDS

_SECRET_HEADERS: Final = frozenset({"x-api-key", "authorization", "proxy-authorization", "cookie"})
_OLDER_ANTHROPIC_VERSION: Final = "2023-06-01"
_REDACTED: Final = "[redacted]"


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A request as it came in: its wire form, its path, its headers (lower-case, secrets redacted) and its body."""

    wire: Wire
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RefusedRequest:
    """A request that a checker refused: the rule, the index of the message at fault, and why."""

    request: RecordedRequest
    rule: str
    index: int | None
    message: str


class StrictServer:
    """A provider on 127.0.0.1 that answers from a script and refuses what the vendors' API references forbid.

    Use it as a context manager, from plain or async tests; the SDKs get `anthropic_url` or `openai_url` as their
    `base_url`. `replies` is a list of `Reply`, `Fault` and callables of the request body, used up in order, or one
    callable for all requests; when the list runs out the answer is 500. `models` limits the model names (others: 404);
    `api_key` limits the keys (others: 401; None takes any, but never no key). `signing_key` signs thinking and
    reasoning: servers of one key take each other's transcripts. A refused request uses up no reply.
    """

    def __init__(
        self,
        replies: Sequence[Step] | Callable[[Mapping[str, Any]], Answer] = (),
        *,
        models: Collection[str] | None = None,
        api_key: str | None = None,
        signing_key: bytes | None = None,
    ) -> None:
        self.requests: list[RecordedRequest] = []
        self.refused: list[RefusedRequest] = []
        self._script = Script(replies)
        self._models = models
        self._api_key = api_key
        self._signer = TranscriptSigner() if signing_key is None else TranscriptSigner(signing_key)
        self._http = LoopbackServer(self._answer)

    def __enter__(self) -> Self:
        self._http.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._http.close()

    @property
    def url(self) -> str:
        """The address without a path."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def anthropic_url(self) -> str:
        """The base URL in the form that the Anthropic SDK and ANTHROPIC_BASE_URL take."""
        return self.url

    @property
    def openai_url(self) -> str:
        """The base URL in the form that the OpenAI SDK and OPENAI_BASE_URL take."""
        return f"{self.url}/v1"

    @property
    def remaining(self) -> int:
        """How many replies of the list were not asked for."""
        return self._script.remaining

    @property
    def failures(self) -> list[BaseException]:
        """What the server itself failed at, such as an exception of a callable reply; empty in a good test."""
        return self._http.failures

    def extend(self, replies: Sequence[Step]) -> None:
        """Add replies behind the last one."""
        self._script.extend(replies)

    def release(self) -> None:
        """Let all stalled answers go on, and later ones not stall."""
        self._http.released.set()

    def _answer(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Response:
        route = path.partition("?")[0]
        form = next((form for form in WIRE_FORMS if form.path == route), None)
        if form is None:
            # Which vendor's shape an unknown path gets is told by the header that only one of them sends.
            shape = WIRE_FORMS[0] if "anthropic-version" in headers else WIRE_FORMS[1]
            return self._error(shape, 404, f"there is no {route}", "not_found")
        if method != "POST":
            return self._error(form, 405, f"{method} is not possible for {route}", "method_not_allowed")
        try:
            return self._answer_form(form, route, headers, body)
        except ScriptError as error:
            return self._error(form, 500, str(error), "script")

    def _answer_form(self, form: WireForm, path: str, headers: Mapping[str, str], body: bytes) -> Response:
        key = _key_of(form, headers)
        if not key or (self._api_key is not None and key != self._api_key):
            return self._error(form, 401, "the API key is missing or wrong", None)
        if form.wire == MESSAGES and "anthropic-version" not in headers:
            return self._error(form, 400, "anthropic-version: header is required", None)
        try:
            parsed = json.loads(body.decode("utf-8"), parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            return self._error(form, 400, f"the body is not strict JSON: {error}", "json")
        if not isinstance(parsed, dict):
            return self._error(form, 400, "the body is not a JSON object", "json")
        shown = {name: _REDACTED if name in _SECRET_HEADERS else value for name, value in headers.items()}
        request = RecordedRequest(form.wire, path, shown, parsed)
        self.requests.append(request)
        if self._models is not None and parsed.get("model") not in self._models:
            return self._error(form, 404, f"model: {parsed.get('model')}", None)
        try:
            check_request(form.wire, _as_checked(form, parsed, headers), signer=self._signer)
        except WireError as error:
            self.refused.append(RefusedRequest(request, error.rule, error.index, error.message))
            return self._error(form, 400, error.message, error.rule, error.index)
        answer = self._script.next(parsed)
        return respond(answer, form, parsed, self._signer)

    def _error(self, form: WireForm, status: int, message: str, code: str | None, index: int | None = None) -> Response:
        # Clients that retry by themselves must not repeat what cannot get better.
        headers = {form.request_id_header: fresh_id("req"), "x-should-retry": "false"}
        return json_response(status, form.error(status, message, code, index), headers)


def _key_of(form: WireForm, headers: Mapping[str, str]) -> str:
    if form.wire == MESSAGES and headers.get("x-api-key"):
        return headers["x-api-key"]
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _as_checked(form: WireForm, body: Mapping[str, Any], headers: Mapping[str, str]) -> Mapping[str, Any]:
    # A client may ask for the older API version; all that matters here is that it has three fields more.
    if form.wire == MESSAGES and headers["anthropic-version"] == _OLDER_ANTHROPIC_VERSION:
        return {field: value for field, value in body.items() if field not in SAMPLING_FIELDS}
    return body


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
