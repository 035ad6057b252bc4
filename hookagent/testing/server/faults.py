"""Turns an answer of the script, with its fault if it has one, into the HTTP response that the client sees."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from hookagent.testing.server.http import Response, json_response
from hookagent.testing.server.rendering import Rendered, StreamEvent, fresh_id
from hookagent.testing.server.replies import Answer, Fault, Reply, ScriptError
from hookagent.testing.server.signing import TranscriptSigner
from hookagent.testing.server.wire_forms import WireForm

_STREAM: Final = "text/event-stream; charset=utf-8"


def respond(answer: Answer, form: WireForm, request: Mapping[str, Any], signer: TranscriptSigner) -> Response:
    """Make the response to a request that passed its checker.

    Raises `ScriptError` when the reply asks for something that the wire form does not have.
    """
    headers = {form.request_id_header: fresh_id("req")}
    streams = bool(request.get("stream"))
    if isinstance(answer, Fault):
        return _without_reply(answer, form, streams, headers)
    rendered = _literal(answer, form) if answer.raw is not None else form.render(answer, request, signer)
    if isinstance(answer.raw, str):
        content_type = _STREAM if streams else "application/json"
        response = Response(body=answer.raw.encode("utf-8"), content_type=content_type, headers=headers)
        return _broken_body(response, answer.fault, form)
    if streams:
        return _stream(rendered, answer.fault, form, headers)
    return _broken_body(json_response(200, rendered.body, headers), answer.fault, form)


def _literal(reply: Reply, form: WireForm) -> Rendered:
    if isinstance(reply.raw, str) or reply.raw is None:
        return Rendered(None, (), closing=0)
    data: Mapping[str, Any] | list[Mapping[str, Any]]
    data = reply.raw if isinstance(reply.raw, Mapping) else list(reply.raw)
    return Rendered(data, form.literal_events(data), closing=0)


def _without_reply(fault: Fault, form: WireForm, streams: bool, headers: Mapping[str, str]) -> Response:
    if fault.kind == "status":
        return _status(fault, form, headers)
    if fault.kind in ("drop", "hold"):
        return Response(broken=True, held=fault.kind == "hold")
    if not streams and fault.kind == "error_event":
        return _status(fault, form, headers)
    if not streams and fault.kind == "cut":
        return Response(broken=True)
    if fault.kind == "stall":
        # Nothing is left to say when the stall ends.
        return Response(broken=True, events=() if streams else None, content_type=_STREAM, headers=headers, pause_at=0)
    return _stream(Rendered(None, (), closing=0), fault, form, headers)


def _status(fault: Fault, form: WireForm, headers: Mapping[str, str]) -> Response:
    extra = {} if fault.retry_after is None else {"retry-after": fault.retry_after}
    body = form.error(fault.status, fault.message, fault.code, None)
    return json_response(fault.status, body, {**headers, **extra, **fault.headers})


def _broken_body(response: Response, fault: Fault | None, form: WireForm) -> Response:
    if fault is None:
        return response
    if fault.kind == "error_event":
        return _status(fault, form, response.headers)
    broken = fault.kind in {"cut", "drop"}
    pause_at = 0 if fault.kind in ("stall", "hold") else None
    kind = response.content_type
    return Response(200, response.body, None, kind, response.headers, broken=broken, pause_at=pause_at)


def _stream(rendered: Rendered, fault: Fault | None, form: WireForm, headers: Mapping[str, str]) -> Response:
    events = list(rendered.events)
    if fault is None:
        return Response(events=events, content_type=_STREAM, headers=headers)
    after = len(events) - rendered.closing if fault.after is None else fault.after
    if not 0 <= after <= len(events):
        raise ScriptError(f"Fault: after={after}, but the stream has {len(events)} events")
    if fault.kind == "stall":
        return Response(events=events, content_type=_STREAM, headers=headers, pause_at=after)
    if fault.kind == "hold":
        return Response(events=events, content_type=_STREAM, headers=headers, held=True)
    kept = events[:after]
    if fault.kind == "error_event":
        kept.append(_numbered(form.error_event(fault.status, fault.message, fault.code), after))
    return Response(events=kept, content_type=_STREAM, headers=headers, broken=fault.kind == "drop")


def _numbered(event: StreamEvent, position: int) -> StreamEvent:
    # Only Responses numbers its events.
    if isinstance(event.data, Mapping) and "sequence_number" in event.data:
        return StreamEvent(event.name, json.loads(json.dumps(event.data)) | {"sequence_number": position})
    return event
