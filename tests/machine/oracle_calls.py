"""What must hold for tool calls: the strictest verdict wins, what runs is what all gates saw, and it is said truly."""

from __future__ import annotations

from collections.abc import Iterator

from hookagent import Amend, Approve, Deny, Stop, Suspend
from hookagent.events import ToolEnd, ToolStart
from tests.machine.course import Call, Course, fits, same
from tests.machine.plans import PLUGINS
from tests.machine.world import Hooked, Ran

GATE_HOOKS = ("before_tools", "before_each_tool")


def check_calls(course: Course, calls: dict[str, Call]) -> Iterator[str]:
    """Look at each call that started, ran or got its result in this run."""
    ran = {one.call_id: one for _, one in course.all(Ran)}
    started: dict[str, ToolStart] = {}
    for place, event in course.all(ToolStart):
        call_id = event.call.id
        started[call_id] = event
        known = calls.get(call_id)
        if known is None:
            yield f"gates: call '{call_id}' started and was never made"
        else:
            yield from _check_start(place, event, known)
            if not course.setup.bare:
                yield from _check_all_saw(place, event, known)
    for call_id, one in ran.items():
        begun = started.get(call_id)
        if begun is None:
            yield f"calls: the tool ran for call '{call_id}', of which no start was told"
        elif not same({"n": 0, **(begun.call.arguments or {})}, one.arguments):
            yield f"gates: call '{call_id}' ran with {one.arguments}, not with {begun.call.arguments}"
    for _, end in course.all(ToolEnd):
        yield from _check_end(course, end, calls.get(end.call.id), end.call.id in started, end.call.id in ran)
        body = ran.get(end.call.id)
        forced = course.ended_by_force or course.setup.around
        if body is not None and body.done and not forced and end.result.status not in ("ok", "error"):
            yield f"results: '{end.call.id}' ran to its end, and its result says '{end.result.status}'"
    yield from _check_how_often(course)
    yield from _check_answers(course, calls)


def _check_start(place: int, event: ToolStart, known: Call) -> Iterator[str]:
    call = event.call
    if known.cut:
        yield f"calls: '{call.id}' ran, although its reply was cut"
    if not fits(call):
        yield f"calls: '{call.id}' started with arguments that do not fit: {call.arguments}"
    earlier = [one for one in known.sights if one.place < place]
    for one in earlier:
        if isinstance(one.verdict, Deny | Stop):
            yield f"gates: '{call.id}' ran although '{one.plugin}' said {one.verdict} in '{one.hook}'"
    suspended = next((one for one in earlier if isinstance(one.verdict, Suspend) and fits(one.call)), None)
    if suspended is not None and not any(
        one.hook == "resolve_suspended" and isinstance(one.verdict, Approve | Amend) and one.place > suspended.place
        for one in earlier
    ):
        yield f"gates: '{call.id}' ran although nobody answered what '{suspended.plugin}' asked"


def _check_all_saw(place: int, event: ToolStart, known: Call) -> Iterator[str]:
    """Every gate saw what ran, but the one that chose it."""
    call_id, arguments = event.call.id, event.call.arguments
    earlier = [one for one in known.sights if one.place < place]
    for plugin in (*PLUGINS, "watch"):
        for hook in GATE_HOOKS:
            sights = [one for one in earlier if one.plugin == plugin and one.hook == hook]
            if not sights:
                yield f"gates: '{call_id}' ran and '{plugin}' was never asked in '{hook}'"
            elif not same(sights[-1].call.arguments, arguments):
                own = sights[-1].verdict
                if not (isinstance(own, Amend) and same(own.arguments, arguments)):
                    yield (
                        f"gates: '{call_id}' ran with {arguments}, but '{plugin}' saw {sights[-1].call.arguments} "
                        f"in '{hook}'"
                    )
            wanted = [one.verdict.arguments for one in sights[-1:] if isinstance(one.verdict, Amend)]
            # An amendment that comes last is a denial, unless it changes nothing of what it saw.
            if wanted and not same(wanted[0], arguments) and not same(wanted[0], sights[-1].call.arguments):
                yield f"gates: '{call_id}' ran with {arguments}, but '{plugin}' wanted {wanted[0]} in the end"


def _check_end(course: Course, end: ToolEnd, known: Call | None, started: bool, ran: bool) -> Iterator[str]:
    result, call_id = end.result, end.call.id
    if result.call_id != call_id:
        yield f"results: that of '{call_id}' is said to be of '{result.call_id}'"
    if not result.content.strip():
        yield f"results: that of '{call_id}' is blank"
    if ran and result.status in ("denied", "not_run"):
        yield f"results: '{call_id}' ran, and its result says '{result.status}'"
    if not started and result.status == "ok":
        yield f"results: '{call_id}' never started, and its result says 'ok'"
    if not started and result.status == "error" and result.error_type not in ("UnknownTool", "BadArguments"):
        yield f"results: '{call_id}' never started, and its result is an error of its own ({result.error_type})"
    if result.is_error != (result.status != "ok"):
        yield f"results: '{call_id}' is '{result.status}', and is_error is {result.is_error}"
    if known is None or course.crashed:
        return
    deniers = {one.plugin for one in known.sights if isinstance(one.verdict, Deny)}
    stopped = any(isinstance(one.verdict, Stop) for one in known.sights)
    if deniers and not stopped and course.undisturbed and result.status != "denied":
        yield f"gates: '{call_id}' was denied by {sorted(deniers)}, and its result says '{result.status}'"
    if result.status == "denied":
        amenders = {one.plugin for one in known.sights if isinstance(one.verdict, Amend)}
        named = result.content.partition("'")[2].partition("'")[0]
        changed = any(
            one.hook == "after_each_tool" and one.act == "replace" and one.given["tool_call"].id == call_id
            for _, one in course.all(Hooked)
        )
        if not changed and named not in deniers | amenders:
            yield f"gates: the denial of '{call_id}' names '{named}'; it was denied by {sorted(deniers | amenders)}"


def _check_how_often(course: Course) -> Iterator[str]:
    """No call runs twice, unless a plugin around it wants that."""
    twice = {
        one.given["tool_call"].id
        for _, one in course.all(Hooked)
        if one.hook == "wrap_tool_call" and one.act == "twice"
    }
    seen: set[str] = set()
    for place, item in enumerate(course.world.timeline):
        if type(item) is Ran and place >= course.start and item.call_id in seen and item.call_id not in twice:
            yield f"calls: '{item.call_id}' ran twice"
        if type(item) is Ran:
            seen.add(item.call_id)


def _check_answers(course: Course, calls: dict[str, Call]) -> Iterator[str]:
    """Who is asked for an answer: for what is suspended and denied by nobody, once, all open calls at once."""
    asked: set[tuple[str, str]] = set()
    first_of: set[tuple[str, ...]] = set()
    for place, one in course.all(Hooked):
        if one.hook != "resolve_suspended":
            continue
        ids = [pending.call.id for pending in one.given["pending"]]
        for call_id in ids:
            if (one.plugin, call_id) in asked:
                yield f"gates: '{one.plugin}' was asked twice for '{call_id}'"
            asked.add((one.plugin, call_id))
            known = calls.get(call_id)
            said = [two for two in known.sights if two.place < place] if known is not None else []
            if any(isinstance(two.verdict, Deny | Stop) for two in said):
                yield f"gates: '{one.plugin}' was asked for '{call_id}', which was refused already"
            if not any(isinstance(two.verdict, Suspend) for two in said):
                yield f"gates: '{one.plugin}' was asked for '{call_id}', which nobody suspended"
        made = calls[ids[0]].round if ids and ids[0] in calls else ()
        if course.setup.mode == "parallel" and made not in first_of:
            first_of.add(made)
            for call_id in set(made) - set(ids):
                if _waits(calls[call_id], place, course):
                    yield f"gates: '{one.plugin}' was asked for {ids}, but not for '{call_id}', which waits as well"


def _waits(call: Call, place: int, course: Course) -> bool:
    said = [one for one in call.sights if one.place < place]
    if any(isinstance(one.verdict, Deny | Stop | Amend | Approve) for one in said) or call.cut:
        return False
    results = {end.call.id for _, end in course.all(ToolEnd)}
    return call.call.id not in results and any(isinstance(one.verdict, Suspend) and fits(one.call) for one in said)
