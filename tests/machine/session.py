"""One session of the machine, over all its runs, re-openings and crashes, with everything that is known of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from hookagent import Agent, AssistantMessage
from hookagent.errors import MisuseError
from hookagent.sessions.errors import SessionError
from tests.machine.actor import Actor
from tests.machine.course import Call, Course, forget, take_in
from tests.machine.driving import Driver
from tests.machine.dying import DYING
from tests.machine.making import make_agent
from tests.machine.model import MachineModel
from tests.machine.oracle_calls import check_calls
from tests.machine.oracle_ends import check_end, usage_problems
from tests.machine.oracle_hooks import check_hooks
from tests.machine.oracle_messages import Told, check_added, check_queues, check_transcript
from tests.machine.oracle_sessions import check_after_crash, check_reopened, refused_by_a_hook
from tests.machine.oracle_window import Window, WindowLog
from tests.machine.plans import PLUGINS, Outside, Plan, Setup
from tests.machine.toolbox import BOXES
from tests.machine.world import World

LOOP = asyncio.new_event_loop()
"""The one event loop of all examples."""


class FoundError(AssertionError):
    """An oracle found something."""


class MachineSession:
    """The session, its agent of the moment, and what the oracles know."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.world = World()
        self._log = WindowLog()
        self.model = MachineModel(self.world, setup.wire, setup.real_window)
        self.outside: list[Outside] = []
        self.heard = 0
        self.driver: Driver | None = None
        self.actors: list[Actor] = []
        self._start_over()
        self._log.listen()

    def _start_over(self) -> None:
        """Begin a session of which nobody knows anything."""
        self.told = Told()
        self.window = Window(self._log)
        self.calls: dict[str, Call] = {}
        self.prompts: list[str] = []
        self.reported: list[str] = []
        self.crashes = 0
        for known in (self.world.timeline, self.world.steered, self.world.followed):
            known.clear()
        self.agent = self._agent(None)

    def _agent(self, session: str | None) -> Agent:
        self.actors = [Actor(self.world, name, index, self.setup) for index, name in enumerate(PLUGINS)]
        agent = make_agent(self.world, self.setup, self.model, self.actors, session)
        agent.subscribe(self._hear)
        return agent

    def _hear(self, event: Any) -> None:
        """Note an event, and do what comes from outside at this moment."""
        self.world.note(event)
        self.heard += 1
        due = [one for one in self.outside if one.at <= self.heard]
        self.outside = [one for one in self.outside if one.at > self.heard]
        for one in due:
            if one.what == "abort":
                self.world.abort(self.agent, "from outside")
            elif one.what == "cancel" and self.driver is not None:
                self.driver.cancel = True
            elif one.what == "follow_up":
                self.world.follow_up(self.agent)
            elif one.what in ("steer", "steer_three"):
                for _ in range(3 if one.what == "steer_three" else 1):
                    self.world.steer(self.agent)

    # ---- what can be done with it ----

    def run(self, plan: Plan, *, prompt: bool = True) -> None:
        """One run, with a prompt of its own or going on without, and everything that must hold behind it."""
        for what in plan.first:
            self._first(what)
        if self.agent.session.waiting and len(self.calls) % 2:
            self.reopen()  # what waits has to survive that, so it is tried more often than chance would
        text = self.world.token("prompt")
        agent = self.agent
        if prompt:
            self.prompts.append(text)
        course = Course(
            self.world, agent, self.setup, plan, len(self.world.timeline), agent.transcript, (text,) if prompt else ()
        )
        for actor in self.actors:
            actor.begin(plan.acts)
        self.model.begin(plan.replies, plan.summary)
        self.outside, self.heard = list(plan.outside), 0
        known = list(agent.transcript.messages())
        counted, used = agent.session.usage.total_tokens, self.model.delivered.total_tokens
        last = agent.last_result
        self._arm(plan)
        try:
            course.result, course.error = self._drive(lambda: agent.run(text) if prompt else agent.continue_())
        finally:
            course.crashed = self.world.dead
        if course.result is None and agent.last_result is not last:
            course.result = agent.last_result
        if isinstance(course.error, MisuseError) and prompt:
            raise FoundError(f"raised: {course.error}")
        if course.crashed:
            self._look(course)
            self._crashed(course, known)
            return
        DYING.disarm()
        if course.result is not None and course.result is not last:
            self.reported += [message.text for message in course.result.not_stored]
        self._look(course)
        counted = agent.session.usage.total_tokens - counted
        self._found(usage_problems(course, counted, self.model.delivered.total_tokens - used))

    def _look(self, course: Course) -> None:
        take_in(course, self.calls)
        problems: list[str] = [*check_calls(course, self.calls), *check_end(course)]
        if not self.setup.bare:
            problems += check_hooks(course)
        problems += self.window.check(course)
        box = BOXES[course.agent]
        if self.setup.max_parallel is not None and box.most > self.setup.max_parallel:
            problems.append(f"limits: {box.most} tools ran at once, at most {self.setup.max_parallel} may")
        if box.beside:
            problems.append("limits: a tool ran beside one that asks to run alone")
        if not course.crashed:
            self.told.hear(course.timeline)
            problems += check_added(course)
            problems += self._settled()
        self._found(problems)

    def _settled(self) -> list[str]:
        agent = self.agent
        return [
            *check_transcript(agent.transcript, self.told),
            *check_queues(self.world, agent, self.prompts, self.reported),
        ]

    @property
    def may_go_on(self) -> bool:
        """Whether there is anything to go on from without a prompt."""
        transcript = self.agent.transcript
        if transcript.open_round is not None:
            return True
        queued = len(self.agent.steering) + len(self.agent.follow_ups)
        return len(transcript) > 0 and (queued > 0 or not isinstance(transcript[-1], AssistantMessage))

    def _first(self, what: str) -> None:
        """Do something while nothing runs."""
        if what == "reopen":
            self.reopen()
        elif what == "fork":
            self.fork(len(self.calls) % 4)
        else:
            (self.world.steer if what == "steer" else self.world.follow_up)(self.agent)
            self._found(self._settled())

    def fork(self, back: int) -> None:
        """Grow an older snapshot of the transcript; the session's own must not notice."""
        from hookagent import UserMessage

        older = self.agent.transcript
        for _ in range(min(back, len(older))):
            older = older.before_newest()
        grown = older.with_user(UserMessage(self.world.token("fork")))
        if older.open_round is None and len(grown) != len(older) + 1:
            self._found(["transcript: a snapshot that grew has not one block more"])
        self._found(self._settled())

    def reopen(self) -> None:
        """Close the session in order, and open it again in what might be another process."""
        if not self.setup.log or not len(self.agent.transcript):
            return
        before = self.agent
        self._close()
        self.agent = self._agent(before.session.id)
        self._found([*check_reopened(before, self.agent), *self._settled()])

    def finish(self) -> None:
        """Close the session at the end of the example."""
        DYING.disarm()
        self._log.close()
        self._close()

    # ---- inside ----

    def _close(self) -> None:
        start = len(self.world.timeline)
        agent = self.agent
        for actor in self.actors:
            actor.begin(())
        _, error = self._drive(agent.close)
        ended = sum(getattr(one, "hook", "") == "on_session_end" for one in self.world.timeline[start:])
        expected = (len(PLUGINS) + 1) * any(
            getattr(one, "hook", "") == "on_session_start" for one in self.world.timeline[:start]
        )
        if error is not None and not self.world.dead:
            self._found([f"raised: closing the session: {type(error).__name__}: {error}"])
        if not self.world.dead and expected and not self.crashes and ended not in (expected, 0):
            self._found([f"balance: on_session_end was called {ended} times of {expected}"])

    def _arm(self, plan: Plan) -> None:
        crash = plan.crash if self.setup.log else None
        agent = self.agent
        DYING.arm(self.world, crash, lambda: LOOP.call_soon(agent.abort, "the process died"))

    def _crashed(self, course: Course, known: list[Any]) -> None:
        """The process died: let its ghost end, and open the session in another one, if it has begun at all."""
        self.crashes += 1
        forget(course, self.calls)
        ghost = self.agent
        self._close()
        DYING.disarm()
        self.world.dead = False
        try:
            self.agent = self._agent(ghost.session.id)
        except SessionError:
            self._start_over()  # nothing had reached the disk
            return
        problems = list(check_after_crash(course, known, self.agent))
        self.told.begin_with(self.agent.transcript)
        stored = " ".join(getattr(one, "text", "") for one in self.agent.transcript.messages())
        self.prompts = [one for one in self.prompts if one in stored or any(one in text for text in self.reported)]
        excused = refused_by_a_hook(course)
        for tokens in (self.world.steered, self.world.followed):
            waits = " ".join(one.text for one in (*self.agent.steering.peek(), *self.agent.follow_ups.peek()))
            tokens[:] = [
                one for one in tokens if one in stored or one in waits or not any(one in text for text in excused)
            ]
        self._found([*problems, *self._settled()])

    def _drive(self, make: Callable[[], Coroutine[Any, Any, Any]]) -> tuple[Any, BaseException | None]:
        self.driver = Driver(self.world, self.agent)
        return LOOP.run_until_complete(self.driver.drive(make()))

    def _found(self, problems: Iterable[str]) -> None:
        found = [*self.world.problems, *problems]
        if found:
            raise FoundError("\n".join(dict.fromkeys(found)))
