"""`check_plugin` where plugins do what few do: ask in a shape, lose exceptions, wait for each other, fail late."""

from __future__ import annotations

import asyncio
import enum
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from hookagent import Agent, Request, Tool, Transcript, UserMessage, complete
from hookagent.testing import Recorder, ScriptedProvider, check_plugin
from hookagent.testing.plugin_check import check
from hookagent.testing.plugin_check.isolation import Surroundings, leaks
from hookagent.testing.plugin_check.model import Line, ReferenceModel
from hookagent.testing.plugin_check.witness import snapshot
from tests.core.plugin_making import made
from tests.testing.refusing import refusal


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Part(BaseModel):
    inner: Part | None
    name: str = Field(min_length=3)


class Grade(BaseModel):
    """Asks for a value of each kind that a JSON schema has."""

    kind: Literal["grade"]
    colour: Colour
    part: Part
    parts: list[Part] = Field(min_length=2)
    either: int | str
    pair: tuple[int, bool]
    marks: dict[str, int]
    points: int = Field(ge=7)
    weight: float = Field(gt=0)
    good: bool
    comment: str = "none"
    others: list[str]


def test_a_plugin_may_ask_the_model_for_an_answer_in_any_shape() -> None:
    grades: set[str] = set()

    async def after_tools(agent: Agent) -> str:
        grade = await complete("How was it?", output=Grade, model=agent.provider)
        grades.add(grade.model_dump_json())
        return f"that was {grade.points}"

    report = check_plugin(made("grading", after_tools=after_tools))
    assert report.requests > 10
    part = '{"inner":null,"name":"xxx"}'
    assert grades == {
        f'{{"kind":"grade","colour":"red","part":{part},"parts":[{part},{part}],"either":0,"pair":[0,true],'
        '"marks":{},"points":7,"weight":1.0,"good":true,"comment":"none","others":[]}'
    }


def test_a_question_in_no_shape_is_answered_by_a_text() -> None:
    model = ReferenceModel([[{"text": "unused"}]])
    assert asyncio.run(complete("How was it?", model=model)) == "Noted."
    assert model.requests == 0


def test_an_exception_that_nobody_can_catch_is_told() -> None:
    class Careless:
        def __del__(self) -> None:
            raise ValueError("too late")

    text = refusal(made("careless", on_session_end=lambda session: Careless() and None))
    assert "all runs together: an exception was lost: ValueError: too late" in text
    assert "what to do: do not raise in finalizers and callbacks" in text


def test_a_plugin_that_cannot_be_made_again_is_told_and_the_other_runs_go_on() -> None:
    makings: list[int] = []

    def make() -> Any:
        makings.append(1)
        return made("once", **{"before_lunch" if len(makings) == 3 else "before_llm": lambda: None})

    text = refusal(make)
    assert "1 problem in " in text
    assert "loading: no agent can be made with it: " in text
    assert "before_lunch" in text
    assert len(makings) > 5


def test_a_failing_server_is_no_plugins_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing(Line):
        def __enter__(self) -> Failing:
            super().__enter__()
            self.server.failures.append(OSError("no more sockets"))
            return self

    monkeypatch.setattr(check, "Line", Failing)
    text = refusal(made("innocent", before_llm=lambda iteration: None))
    assert "the strict server failed: OSError: no more sockets" in text
    assert "report this; it is no plugin's fault" in text


def test_two_sessions_that_wait_for_each_other_are_told() -> None:
    async def before_llm(iteration: int) -> None:
        await asyncio.get_running_loop().create_future()

    (problem,) = asyncio.run(leaks(made("waiting", before_llm=before_llm), None, {}, 0.0))
    assert problem.what == "two sessions at the same time did not end"


def test_a_failure_at_the_end_of_one_of_two_sessions_is_told() -> None:
    ended: list[str] = []

    def on_session_end(session: Any) -> None:
        ended.append(session.id)
        if len(ended) == 2:
            raise ValueError("only one at a time")

    (problem,) = asyncio.run(leaks(made("single", on_session_end=on_session_end), None, {}, 30.0))
    assert problem.hook == "on_session_end"
    assert "only one at a time" in problem.what
    assert len(set(ended)) == 2


def test_the_check_can_be_made_in_any_thread() -> None:
    seen: list[Any] = []

    def look() -> None:
        surroundings = Surroundings()
        seen.append(surroundings.changes())
        seen.append("the handler of SIGINT" in surroundings._seen)

    thread = threading.Thread(target=look)
    thread.start()
    thread.join(30)
    assert seen == [[], False]
    assert "the handler of SIGINT" in Surroundings()._seen


def look(item: str) -> str:
    """Look."""
    return item


def wait(until: threading.Event) -> str:
    """Take what no model can send."""
    return str(until)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (Transcript([UserMessage("go")]), Transcript([UserMessage("go")])),
        (Tool.from_callable(look), Tool.from_callable(look, name="glance")),
        (Tool.from_callable(look), Tool.from_callable(wait)),
        (object(), object()),
    ],
)
def test_a_snapshot_tells_one_value_from_another_and_not_from_itself(before: Any, after: Any) -> None:
    assert snapshot(before) == snapshot(before)
    assert snapshot(after) == snapshot(after)
    assert snapshot(before) != snapshot(after)


def test_a_recorder_registers_the_tool_that_it_is_told_to() -> None:
    def tool(given: Mapping[str, Any]) -> Tool:
        assert callable(given["register"])
        return Tool.from_callable(look, effect="reads")

    asked: list[Request] = []

    def answer(request: Request) -> str:
        asked.append(request)
        return "done"

    recorder = Recorder({"register_tools": tool})
    agent = Agent(model=ScriptedProvider(answer), plugins=[recorder], log=False, quiet=True)
    assert agent.run_sync("go").answer == "done"
    agent.close_sync()
    assert [one.name for one in asked[0].tools] == ["look"]
    assert recorder.names[0] == "register_tools"


MODULE = """
from hookagent import AssistantMessage, Delta, TextPart


class Tried:
    name, wire, notice, context_window = "tried", None, "", None

    def __init__(self, model):
        self.model = model

    async def stream(self, request):
        yield Delta("text", "There is.")
        yield AssistantMessage((TextPart("There is."),), "end")
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A distribution with the provider `tried`, installed also for the processes that the check starts."""
    (tmp_path / "tried_provider.py").write_text(MODULE)
    metadata = tmp_path / "hookagent_tried_provider-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: hookagent-tried-provider\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[hookagent.providers]\ntried = tried_provider:Tried\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    path = os.environ.get("PYTHONPATH")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *([path] if path else [])]))
    yield tmp_path
    sys.modules.pop("tried_provider", None)


def test_the_name_of_a_provider_is_checked_as_one(installed: Path) -> None:
    report = check_plugin("tried")
    assert (report.plugin, report.runs) == ("tried", ("run 'one question'", "run 'two turns'"))


def test_a_provider_that_is_imported_though_nobody_named_it_is_refused(installed: Path) -> None:
    (installed / "sitecustomize.py").write_text("import tried_provider\n")
    text = refusal("tried")
    assert "loading: its module 'tried_provider' was imported although nobody enabled it" in text
