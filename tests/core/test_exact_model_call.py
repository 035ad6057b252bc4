"""What a model call comes to: how its failure is told, when it is sent once more, and what the trace keeps of it."""

from __future__ import annotations

from typing import Any

import pytest

from hookagent.errors import ProviderError, RequestRefusedError
from hookagent.events import ErrorEvent, IterationStart, MessageStart, RequestSent
from hookagent.messages import AssistantMessage, TextPart
from tests.core.plugin_making import Around, made
from tests.core.scripts import calls, make_agent, words

ANSWER = {"text": "done"}


class Provider:
    """A model that gives, or raises, one thing after the other; it keeps what it was asked."""

    wire, notice = None, ""

    def __init__(self, *outcomes: Any, model: str = "model", window: int | None = None) -> None:
        self.name, self.model, self.window = "own", model, window
        self.outcomes = list(outcomes)
        self.asked: list[int] = []

    @property
    def context_window(self) -> int | None:
        return self.window

    async def stream(self, request: Any) -> Any:
        self.asked.append(len(request.blocks))
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, BaseException):
            raise outcome
        yield AssistantMessage((TextPart(outcome),))


def agent_with(model: Provider, *plugins: Any, **options: Any) -> Any:
    agent = make_agent([], *plugins, **options)
    agent.model = model
    return agent


def too_long(text: str, window: int | None = None) -> ProviderError:
    return ProviderError("too_long", "own", text, window=window)


def dropping() -> Any:
    """A plugin that shapes nothing when it is first asked, and leaves out what is before block 2 from then on."""
    seen: list[int] = []

    def shape_request(request: Any) -> Any:
        seen.append(1)
        return request.dropping_before(2) if len(seen) > 1 else None

    return made("drops", shape_request=shape_request)


# ---- a call that fails ----

REFUSED = RequestRefusedError("blank", "a message is blank")


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize(
    ("error", "source", "text", "kind"),
    [
        (ProviderError("authentication", "own", "bad key"), "own:model", "own: bad key", "authentication"),
        (ProviderError("too_long", "own", "too much"), "own:model", "own: too much", "too_long"),
        (REFUSED, "request", "request refused: a message is blank (rule 'blank')", None),
        (ValueError("odd"), "own:model", "own:model: raised ValueError: odd", None),
        (SystemExit(3), "own:model", "own:model: raised SystemExit: 3", None),
    ],
    ids=["the vendor's", "too long", "refused", "foreign", "exits"],
)
def test_a_call_that_fails_is_told_with_its_source(
    wrapped: bool, error: BaseException, source: str, text: str, kind: str | None
) -> None:
    async def passes(request: Any, call_next: Any) -> Any:
        return await call_next(request)

    told: list[Any] = []
    hears = made("hears", on_error=lambda error, tool_call: told.append((error, tool_call)))
    plugins = [hears, Around("around", model=passes)] if wrapped else [hears]
    agent = agent_with(Provider(error), *plugins)
    result = agent.run_sync("go")
    assert (result.status, result.reason, result.error_kind) == ("failed", text, kind)
    assert told == [(error, None)]
    assert [tuple(one)[4:] for one in agent.session.trace if isinstance(one, ErrorEvent)] == [("model", source, text)]
    assert agent.streaming_text is None
    assert words(agent.transcript) == ["U go"]


# ---- a request that is too long ----


@pytest.mark.parametrize("second", [too_long("still too much", 200), ProviderError("authentication", "own", "bad key")])
def test_the_second_refusal_is_what_the_run_ends_with_and_both_are_told(second: ProviderError) -> None:
    model = Provider(too_long("too much", 300), second, "never", window=1000)
    agent = agent_with(model, dropping())
    result = agent.run_sync(["one", "two", "three"])
    assert (result.status, result.reason, result.error_kind) == ("failed", str(second), second.kind)
    assert (model.asked, agent.session.context_window) == ([3, 2], second.window or 300)
    assert [one.message for one in agent.session.trace if isinstance(one, ErrorEvent)] == ["own: too much", str(second)]


def test_where_nothing_is_left_out_the_first_refusal_is_what_the_run_ends_with() -> None:
    model = Provider(too_long("too much", 300), "never", window=1000)
    agent = agent_with(model)
    result = agent.run_sync("go")
    assert (result.status, result.reason, result.error_kind) == ("failed", "own: too much", "too_long")
    assert (model.asked, agent.session.context_window) == ([1], 300)


def test_a_request_that_was_made_shorter_is_announced_once_more_and_its_reply_belongs_to_it() -> None:
    heard: list[Any] = []
    given: list[Any] = []
    follows = made("follows", after_llm=lambda request, response: given.append((len(request.blocks), response.text)))
    agent = agent_with(Provider(too_long("too much"), "done"), dropping(), follows)
    agent.subscribe(heard.append)
    assert agent.run_sync(["one", "two", "three"]).answer == "done"
    sent = [tuple(one)[4:] for one in heard if isinstance(one, RequestSent)]
    assert sent == [(3, 3, None), (2, 3, "drops")]
    assert (given, agent.streaming_text) == ([(2, "done")], None)


def test_who_hears_of_it_may_put_a_larger_model_in_its_place() -> None:
    small, large = Provider(too_long("too much"), window=10), Provider("done", model="large", window=1000)

    def switch(error: Any) -> None:
        agent.model = large

    agent = agent_with(small, dropping(), made("switches", on_error=switch))
    assert agent.run_sync(["one", "two", "three"]).answer == "done"
    assert (small.asked, large.asked) == ([3], [2])


def test_who_hears_of_it_may_abort_and_nothing_is_sent_once_more() -> None:
    model = Provider(too_long("too much"), "never", window=1000)
    shaped: list[int] = []

    def shape_request(request: Any) -> Any:
        shaped.append(1)
        return request.dropping_before(2) if len(shaped) > 1 else None

    aborts = made("aborts", on_error=lambda error: agent.abort("enough"), shape_request=shape_request)
    agent = agent_with(model, aborts)
    agent.run_sync(["one", "two", "three"])
    assert (model.asked, shaped, agent.session.context_window) == ([3], [1], 1000)


# ---- what is said before it is sent ----

ANNOUNCED = (IterationStart, RequestSent, MessageStart)


@pytest.mark.parametrize("way", ["unheard", "heard", "shaped", "around"])
def test_the_trace_keeps_the_same_of_a_call_whoever_hears_it(way: str) -> None:
    async def passes(request: Any, call_next: Any) -> Any:
        return await call_next(request)

    plugins = {
        "shaped": [made("shapes", shape_request=lambda request: request.with_note("note"))],
        "around": [Around("around", model=passes)],
    }
    agent = agent_with(Provider("done"), *plugins.get(way, []), limits={"max_iterations": 7})
    heard: list[Any] = []
    if way == "heard":
        agent.subscribe(heard.append)
    agent.run_sync(["one", "two"])
    kept = [one for one in agent.session.trace if isinstance(one, ANNOUNCED)]
    assert [(type(one), *tuple(one)[3:]) for one in kept] == [
        (MessageStart, 0, "user"),
        (MessageStart, 0, "user"),
        (IterationStart, 1, 7),
        (RequestSent, 1, 2, 3, "shapes" if way == "shaped" else None),
        (MessageStart, 1, "assistant"),
    ]
    assert [one for one in heard if isinstance(one, ANNOUNCED)] == (kept if way == "heard" else [])
    numbers = [one.number for one in agent.session.trace]
    assert numbers == list(range(1, len(numbers) + 1))


def test_a_closing_answer_is_announced_like_any_other() -> None:
    agent = make_agent([calls("ok"), ANSWER], limits={"max_iterations": 1, "closing_answer": True})
    heard: list[Any] = []
    agent.subscribe(heard.append)
    assert agent.run_sync("go").limit == "max_iterations"
    said = [(type(one), one.iteration) for one in heard if isinstance(one, IterationStart | RequestSent)]
    assert said == [(IterationStart, 1), (RequestSent, 1), (RequestSent, 2)]


def test_an_abort_while_a_request_is_made_that_nobody_shapes_is_kept_with_its_iteration() -> None:
    class Aborting(Provider):
        @property
        def context_window(self) -> None:
            agent.abort("enough")

    model = Aborting("never")
    agent = make_agent([], limits={"max_iterations": 7})
    agent.model = model
    result = agent.run_sync("go")
    assert (result.status, result.reason, model.asked) == ("aborted", "enough", [])
    kept = [one for one in agent.session.trace if isinstance(one, ANNOUNCED)]
    assert [(type(one), *tuple(one)[3:]) for one in kept] == [(MessageStart, 0, "user"), (IterationStart, 1, 7)]


@pytest.mark.parametrize("heard", [False, True])
def test_an_abort_by_who_shapes_the_request_sends_none(heard: bool) -> None:
    model = Provider("never")
    agent = agent_with(model, made("aborts", shape_request=lambda request: agent.abort("enough")))
    if heard:
        agent.subscribe(lambda event: None)
    result = agent.run_sync("go")
    assert (result.status, result.reason, model.asked) == ("aborted", "enough", [])
    assert [type(one) for one in agent.session.trace if isinstance(one, ANNOUNCED)] == [MessageStart, IterationStart]


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_reply_that_comes_after_an_abort_is_nobodys_any_more(wrapped: bool) -> None:
    class Late(Provider):
        async def stream(self, request: Any) -> Any:
            agent.abort("enough")
            async for item in super().stream(request):
                yield item

    async def passes(request: Any, call_next: Any) -> Any:
        return await call_next(request)

    told: list[Any] = []
    plugins = [made("hears", after_llm=lambda response: told.append(response))]
    agent = agent_with(Late("done"), *plugins, *([Around("around", model=passes)] if wrapped else []))
    result = agent.run_sync("go")
    assert (result.status, result.reason, told) == ("aborted", "enough", [])
    assert words(agent.transcript) == ["U go"]
