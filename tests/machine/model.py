"""The model of the machine: checks every request on all wire forms, and answers as the plan of the run says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from typing import Any

from hookagent import (
    AssistantMessage,
    Delta,
    ProviderError,
    ProviderPart,
    Request,
    RequestRefusedError,
    TextPart,
    ToolCall,
    Usage,
    freeze,
)
from hookagent.testing import WireError
from hookagent.testing.server.replies import Call, NoId
from hookagent.testing.server.replies import Reply as KitReply
from hookagent.testing.server.replies import Usage as KitUsage
from hookagent.testing.wire import MESSAGES
from tests.machine.flat import read_body, read_request
from tests.machine.plans import ARGUMENTS, TOOLS, Reply
from tests.machine.vendors import VENDORS, Vendor
from tests.machine.world import Sent, World

SUMMARY_MARK = "You shorten the history"
_LONG = {"short": 60, "long": 700, "longest": 1_800}
_STOPS = {"filtered": "content_filter", "tool_calls": "tool_use"}


class MachineModel:
    """A provider that answers from `replies` in order, and then with a text.

    `wire` says how replies come: plain values as a provider of somebody else's makes them, or as the events of a
    vendor's stream, through the real reader. `limit` is how many tokens it takes.
    """

    name = "machine"
    notice = ""

    def __init__(self, world: World, wire: str, limit: int | None) -> None:
        self.world = world
        self.vendor: Vendor | None = VENDORS.get(wire)
        self.model = self.vendor.model if self.vendor is not None else "plain"
        self.wire: str | None = None
        self.limit = limit
        self.context_window: int | None = None
        self.replies: list[Reply] = []
        self.summary = "short"
        self.used_ids: list[str] = []
        self.delivered = Usage()

    def begin(self, replies: Sequence[Reply], summary: str) -> None:
        """A run with these replies is about to begin."""
        self.replies = list(replies)
        self.summary = summary

    async def stream(self, request: Request) -> AsyncIterator[Any]:
        """Check, note, and answer."""
        bodies = self._checked(request)
        body = json.dumps([bodies[0], bodies[1], bodies[2]], sort_keys=True, default=str)
        head = bodies[0]
        tokens = len(json.dumps([head.get("system"), head.get("tools"), head["messages"]])) // 4
        summarizes = request.system.startswith(SUMMARY_MARK)
        sent: Sent = self.world.note(Sent(request, body, tokens, summarizes))
        await asyncio.sleep(0)
        if self.limit is not None and tokens > self.limit:
            sent.answer = "too_long"
            raise ProviderError("too_long", self.name, f"{tokens} tokens, at most {self.limit}", window=self.limit)
        spec = self._summary() if summarizes else self.replies.pop(0) if self.replies else Reply()
        async for item in self._answer(request, spec, sent, bodies):
            self.world.progress += 1
            if isinstance(item, AssistantMessage):
                item = self._used(item, tokens, summarizes)
                sent.answer, sent.reply = "reply", item
                self.delivered = self.delivered + item.usage
            else:
                sent.pieces += 1
            yield item

    def _checked(self, request: Request) -> list[dict[str, Any]]:
        bodies = []
        expected = read_request(request)
        for vendor in VENDORS.values():
            self.world.checked += 1
            try:
                body = vendor.body(request)
            except (WireError, RequestRefusedError) as error:
                self.world.refused += 1
                self.world.wrong(f"request refused on the wire '{vendor.wire}': {error}")
                raise ProviderError("invalid_request", self.name, str(error)) from error
            found = read_body(vendor.wire, body)
            if found != expected:
                self.world.wrong(f"request differs on the wire '{vendor.wire}': {found} instead of {expected}")
            bodies.append(body)
        return bodies

    def _summary(self) -> Reply:
        return Reply(failure="authentication") if self.summary == "broken" else Reply()

    def _used(self, message: AssistantMessage, tokens: int, summarizes: bool) -> AssistantMessage:
        if self.vendor is not None:
            return message
        return replace(message, usage=Usage(tokens, 0, 0, 7, requests=1))

    # ---- replies ----

    async def _answer(
        self, request: Request, spec: Reply, sent: Sent, bodies: list[dict[str, Any]]
    ) -> AsyncIterator[Any]:
        failure = spec.failure
        if failure in ("server", "rate_limit", "authentication", "too_long"):
            sent.answer = failure
            after = 30.0 if failure == "rate_limit" else None
            raise ProviderError(failure, self.name, f"planned: {failure}", retry_after=after)  # type: ignore[arg-type]
        if failure == "foreign":
            sent.answer = failure
            raise OSError("something of the network")
        if failure == "nothing":
            sent.answer = failure
            return
        text = self._text(request, spec)
        if failure in ("broken", "hangs"):
            sent.answer = failure
            yield Delta("text", text)
            if failure == "broken":
                raise ProviderError("connection", self.name, "planned: it broke off")
            await asyncio.get_running_loop().create_future()
        calls = self._calls(spec)
        if self.vendor is None:
            sent.answer = "cut" if failure == "cut" else "hangs"
            for item in _plain(text, calls, spec):
                yield item
                await asyncio.sleep(0)
            return
        for item in self._through_vendor(request, text, calls, spec, sent, bodies):
            yield item

    def _through_vendor(
        self, request: Request, text: str, calls: list[Call], spec: Reply, sent: Sent, bodies: list[dict[str, Any]]
    ) -> Iterator[Any]:
        assert self.vendor is not None
        body = bodies[list(VENDORS.values()).index(self.vendor)]
        usage = KitUsage(sent.tokens - 5, 7, 3, 2)
        stop = _STOPS.get(spec.stop or "", spec.stop)
        if stop == "pause" and self.vendor.wire != MESSAGES:
            stop = None  # the other vendors pause nothing
        reply = KitReply(text, calls, "thinking of it" if spec.thinking else None, stop, usage)
        sent.answer = "cut"
        for item in self.vendor.read(self.vendor.events(reply, body, cut=spec.failure == "cut"), request):
            if isinstance(item, AssistantMessage):
                if spec.failure == "cut":
                    self.world.wrong("reader: a stream without its end was taken for a whole reply")
                self._compare(request, item, text, calls, spec, usage)
            yield item

    def _compare(
        self, request: Request, read: AssistantMessage, text: str, calls: list[Call], spec: Reply, usage: KitUsage
    ) -> None:
        """Compare what was read with what was sent."""
        wrong = self.world.wrong
        if read.text != text:
            wrong(f"reader: the text is {read.text!r} instead of {text!r}")
        if [one.name for one in read.tool_calls] != [one.name for one in calls]:
            wrong("reader: the calls are others than were sent")
        for found, made in zip(read.tool_calls, calls, strict=True):
            fits = found.arguments == made.arguments if isinstance(made.arguments, dict) else found.arguments is None
            if not fits:
                wrong(f"reader: arguments {found.arguments!r} instead of {made.arguments!r}")
        ids = [one.id for one in read.tool_calls]
        known = [call.id for block in request.blocks.transcript for call in getattr(block, "calls", ())]
        if len({*ids, *known}) != len(ids) + len(set(known)) or not all(ids):
            wrong(f"reader: call ids {ids} are not new in a conversation that has {known}")
        counted = (read.usage.input_tokens, read.usage.cache_read_tokens, read.usage.cache_write_tokens)
        if counted != (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens):
            wrong(f"reader: usage is {read.usage}, sent was {usage}")
        if spec.stop == "length" and read.stop_reason != "length":
            wrong(f"reader: a reply that was cut reads as '{read.stop_reason}'")

    def _text(self, request: Request, spec: Reply) -> str:
        if request.system.startswith(SUMMARY_MARK):
            if self.summary == "blank":
                return " "
            return self.world.token("sum").ljust(_LONG.get(self.summary, 60), "s")
        return self.world.token("reply") if spec.text else ""

    def _calls(self, spec: Reply) -> list[Call]:
        calls = []
        for name, arguments, kind in spec.calls:
            call_id: str | NoId = self.world.token("id").strip("<>")
            if kind == "same" and self.used_ids:
                call_id = self.used_ids[-1]
            elif kind == "first" and self.used_ids:
                call_id = self.used_ids[0]
            elif kind == "blank":
                call_id = ""
            if call_id:
                self.used_ids.append(str(call_id))
            given: Any = ARGUMENTS[arguments]
            calls.append(Call(TOOLS[name], given if isinstance(given, str) else dict(given), call_id))
        return calls


def _plain(text: str, calls: list[Call], spec: Reply) -> Iterator[Any]:
    """A reply as a provider of somebody else's gives it: ids are as they come."""
    parts: list[Any] = []
    if spec.thinking:
        parts.append(ProviderPart("machine", "thinking", freeze({"thought": "of it"}), "of it"))
        yield Delta("thinking", "of it")
    if text:
        parts.append(TextPart(text))
        yield Delta("text", text)
    if spec.failure == "cut":
        return
    for call in calls:
        made = ToolCall(str(call.id), call.name, None, call.arguments_text(), "it is no JSON object")
        if isinstance(call.arguments, dict):
            made = replace(made, arguments=freeze(call.arguments), raw=None, problem=None)
        parts.append(made)
    stop: Any = spec.stop or ("tool_calls" if calls else "end")
    yield AssistantMessage(tuple(parts), stop, Usage(), "plain", "machine")
