"""What the Agent class that this box is modelled on does, line by line, and what became of it here.

`LINES` are its 47 tested behaviours, `CASES` nine more that nobody tested there; `box_options` has what its
constructor takes. A row is `built` (the tests that hold it), `replaced` (by what of ours, and the tests of that), or
`refused` (why). Tests are named from the folder `tests/`; `ours` are hooks, methods, options and public names, as
`resolve` of `test_box_table` reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

Ruling = Literal["built", "replaced", "refused"]

_STATE = "core/test_box_behaviour.py::test_"
_WAITS = "core/test_box_queues.py::test_"
_ROUNDS = "core/test_box_rounds.py::test_"
_BOX = "core/test_agent_box.py::test_"
_QUEUES = "core/test_agent_queues.py::test_"
_TOOLS = "core/test_agent_tools.py::test_"
_ABORT = "core/test_abort.py::test_"
_GATES = "core/test_gates.py::test_"
_KEPT = "core/test_kept_sessions.py::test_"


class Row(NamedTuple):
    """One behaviour or option in a few words, what became of it, and what shows it."""

    what: str
    ruling: Ruling
    tests: tuple[str, ...] = ()
    ours: tuple[str, ...] = ()
    why: str = ""


def built(what: str, *tests: str, why: str = "") -> Row:
    """It is there; `why` says where it goes further than the original."""
    return Row(what, "built", tests, why=why)


def replaced(what: str, ours: str, *tests: str, why: str = "") -> Row:
    """Something of ours does it: names, separated by blanks."""
    return Row(what, "replaced", tests, tuple(ours.split()), why)


def refused(what: str, why: str, *tests: str) -> Row:
    """It is not wanted; the tests show what happens instead."""
    return Row(what, "refused", tests, why=why)


_STOPS = _ROUNDS + "a_plugin_may_end_the_run_when_every_result_of_a_round_asks_for_it"
_STOP = _ROUNDS + "a_stop_behind_a_round_ends_the_run_and_leaves_the_queues_as_they_are"
_ALONE = _ROUNDS + "a_tool_that_runs_alone_has_no_call_beside_it_and_starts_in_call_order"
_PROGRESS = _ROUNDS + "progress_after_the_end_of_a_call_is_ignored_beside_a_sibling_and_after_the_run"
_GOING_ON = _WAITS + "going_on_after_an_answer_takes_what_is_queued_steering_first"
_ASYNC = _STATE + "an_async_hook_is_waited_for_by_the_run_and_by_wait_idle"
_ACTIVE = _BOX + "a_second_run_while_one_is_active_is_refused_with_advice"
_MID_RUN = _BOX + "model_tools_and_system_prompt_changed_in_mid_run_count_from_the_next_request"
_WAITING = _ABORT + "an_abort_while_a_hook_waits"
_SENT = _STATE + "what_an_agent_is_made_of_can_be_read_and_is_sent"
_CHOSEN = _STATE + "a_request_has_exactly_the_blocks_that_a_plugin_chose_and_the_transcript_all"

LINES: Final[Mapping[int, Row]] = {
    1: built(
        "a prompt is answered and announced, beginning and end of run, turn and message",
        _ROUNDS + "an_answer_is_announced_from_the_first_to_the_last_event",
    ),
    2: replaced(
        "messages of kinds that no model knows may lie in the transcript",
        "Agent.store_state Session.stored_state",
        _STATE + "what_a_plugin_keeps_in_the_session_is_never_sent",
        _BOX + "a_prompt_of_another_kind_is_misuse",
        why="a transcript of three known kinds is what makes a wrong order impossible to write down",
    ),
    3: replaced("a transform chooses what is sent", "shape_request Request.dropping_before", _CHOSEN),
    4: built("a tool gets its arguments", _ROUNDS + "a_tool_gets_its_arguments_and_ends_without_error"),
    5: built(
        "a call in a reply that the output limit cut is not run, and the model is told",
        "cases/test_cases_cut_replies.py::test_ctx_14_a_cut_call_is_answered_with_the_reason_and_is_not_taken_for_no_arguments",
    ),
    6: refused(
        "a hook may change arguments into what the schema forbids",
        "what a gate amends is validated before anybody sees it, for else a plugin could run what no tool promised",
        _GATES + "an_amendment_that_does_not_fit_fails_closed",
    ),
    7: replaced(
        "a shim turns arguments of an older form into the present one, before they are validated",
        "before_each_tool Amend",
        _GATES + "an_amendment_repairs_bad_arguments",
    ),
    8: built(
        "ends come as they happen, results stand in call order",
        _ROUNDS + "ends_are_announced_as_they_happen_and_results_stand_in_call_order",
    ),
    9: built(
        "steering during a round goes in behind all of its results",
        _QUEUES + "steering_goes_in_behind_the_rounds_results_and_follow_up_at_the_end",
    ),
    10: built("a tool that asks for it never runs beside itself", _ALONE),
    11: replaced(
        "one tool that asks to run alone makes its whole round sequential",
        "tool(alone=) Agent(tool_execution=)",
        _ALONE,
        why="the others of the round lose nothing by running side by side; the starts keep their order",
    ),
    12: built("tools run side by side", _TOOLS + "64_plain_tools_that_wait_for_each_other_all_pass"),
    13: built("a system prompt changed in mid-run counts from the next request on", _MID_RUN),
    14: replaced("a callback ends the run behind a turn, and no queue is read", "after_tools Stop", _STOP),
    15: replaced("all results ask to end the run, and it ends", "after_tools Stop", _STOPS),
    16: replaced("one of two results asks to end the run, and it goes on", "after_tools Stop", _STOPS),
    17: replaced(
        "a hook behind a tool asks to end the run", "after_each_tool after_tools Stop", _STOPS,
        why="the hook for one call changes its result, the hook for the round decides",
    ),
    18: replaced("a blocked call asks to end the run, alone and among others", "before_each_tool after_tools", _STOPS),
    19: built(
        "an abort while a call is judged keeps those before it from running",
        _ROUNDS + "an_abort_while_the_second_of_three_calls_is_judged_starts_none_of_them",
        _WAITING,
        why="hooks behind a tool are called also for what did not run: each result passes them once",
    ),
    20: built("there is no going on from nothing", _QUEUES + "continue"),
    21: built(
        "going on from a prompt announces the answer alone",
        _WAITS + "going_on_from_a_prompt_announces_only_the_new_answer",
    ),
    22: replaced(
        "going on from a message of another kind that a conversion makes a person's",
        "UserMessage.origin Agent.continue_",
        _WAITS + "going_on_from_what_a_plugin_left_behind_an_answer",
        why="what plugins say is of the user's role from the start, and bears their name",
    ),
    23: built(
        "pieces of any kind are passed on in order", _ROUNDS + "pieces_of_every_kind_are_passed_on_in_their_order"
    ),
    24: built("defaults", _STATE + "an_agent_of_nothing_is_empty_idle_and_parallel"),
    25: built("what is given at first is there", _SENT, _KEPT + "a_session_comes_back_by_the_beginning_of_its_id"),
    26: built(
        "to listen, or to change the state, announces nothing; listening can be ended",
        _STATE + "listening_and_changing_the_state_announce_nothing_and_an_unsubscribed_listener_hears_nothing",
    ),
    27: replaced(
        "a failing provider leaves an answer that holds the error's text",
        "ErrorEvent RunResult.status Agent.last_error",
        _ROUNDS + "a_failing_provider_is_announced_whole_and_leaves_no_message_of_its_own",
        why="the next request would send our words as if the model had said them",
    ),
    28: replaced(
        "an asynchronous listener of the end holds the run up", "on_complete", _ASYNC,
        _STATE + "an_async_listener_is_refused_for_nobody_would_wait_for_it",
        why="listeners are plain functions that cannot hold anything up; what must be awaited is a hook",
    ),
    29: replaced("to wait for idleness is to wait for asynchronous listeners too", "Agent.wait_idle after_llm", _ASYNC),
    30: replaced(
        "listeners are handed the signal of the abort",
        "ToolContext.abort current_call AgentEnd.status",
        _ABORT + "a_plain_tool_that_heeds_the_signal_ends_by_itself_and_its_result_counts",
        _WAITING,
        why="a plain listener has nothing to stop; tools read the signal, hooks are cancelled",
    ),
    31: built(
        "progress behind the end of a call is ignored",
        _PROGRESS,
        "tools/test_tools_context.py::test_late_progress_goes_nowhere",
    ),
    32: built("so it is while another call still runs", _PROGRESS),
    33: built(
        "lists that are given are copied, what is in them stays itself",
        _STATE + "lists_that_are_given_are_copied_and_tools_keep_their_identity",
        why="the transcript is a value that cannot be pushed to at all",
    ),
    34: built("queueing touches no transcript", _STATE + "queueing_touches_no_transcript"),
    35: built("an abort of nothing does nothing", _ABORT + "an_abort_when_idle_does_nothing"),
    36: built("a reset during a run is refused", _ACTIVE),
    37: built("a prompt during a run is refused, with advice to queue it", _ACTIVE),
    38: built("going on during a run is refused", _ACTIVE),
    39: built("going on behind an answer takes a follow-up", _GOING_ON),
    40: built(
        "going on with two steered messages gives each an answer of its own",
        _WAITS + "of_two_steered_messages_each_gets_its_own_answer_when_going_on",
        _WAITS + "of_two_messages_steered_while_the_end_is_announced_each_gets_its_own_answer",
    ),
    41: replaced(
        "the callback that prepares the next turn is handed the signal of the abort",
        "before_llm shape_request",
        _WAITING,
        why="an abort cancels a hook that waits, so it need not ask",
    ),
    42: replaced(
        "the callback that ends the run is handed the context and the signal",
        "after_tools Stop Session.transcript",
        _STOP,
        _WAITING,
    ),
    43: built(
        "the session's id reaches the provider, also when it changes",
        _STATE + "a_request_carries_the_id_of_the_session_and_a_new_one_after_reset",
        "providers/test_providers_encode.py::test_openai_gets_the_session_as_its_cache_key",
    ),
    44: replaced(
        "a default for the function that streams can be set",
        "hookagent.providers.default_model",
        "providers/test_providers_routing.py::test_a_key_in_the_environment_decides",
        "providers/test_providers_routing.py::test_without_a_key_the_embedded_model_or_three_ways_on",
    ),
    45: built(
        "an abort on the way to the next request loses and doubles nothing that is queued",
        _WAITS + "an_abort_on_the_way_to_the_next_request_loses_and_doubles_nothing",
        _ABORT + "steered_messages_survive_an_abort_and_are_delivered_once",
    ),
    46: built(
        "of two taken together, what was not stored when the abort came waits on",
        _WAITS + "of_two_taken_together_the_one_that_was_stored_before_an_abort_stays_and_the_other_waits",
    ),
    47: built(
        "what a listener of the answer's end steers before it aborts is not lost",
        _WAITS + "what_is_steered_and_aborted_while_the_answer_is_announced_still_waits",
    ),
}  # fmt: skip

CASES: Final[Mapping[str, Row]] = {
    "a transform cuts a pair": refused(
        "what shapes a request may part a call from its result",
        "a request chooses whole blocks, and a round is one block, so that there is no such request",
        "core/test_model_call.py::test_a_request_that_no_hook_may_make_is_not_sent_and_named",
        "providers/test_providers_request_rules.py::test_only_a_result_text_can_be_replaced",
    ),
    "injection from hooks": refused(
        "a hook pushes messages between calls and results",
        "hooks return what they want, and the loop stores it where it cannot break the order, or names who tried",
        "core/test_message_order.py::test_a_message_in_an_open_round_is_refused_and_the_round_is_closed",
        "core/test_message_order.py::test_held_messages_land_behind_the_last_result",
    ),
    "listener exceptions": built(
        "a listener that raises changes no run",
        _BOX + "a_listener_that_raises_is_named_dropped_after_three_faults_and_changes_nothing",
    ),
    "duplicate ids": built(
        "calls of one id get ids of their own",
        _TOOLS + "ids_used_before_in_the_session_get_fresh_ones",
        "cases/test_cases_ordering.py::test_ord_14_15_an_id_given_twice_swallows_no_call",
    ),
    "tool returning nothing": built(
        "a tool that gives nothing has a result that says so",
        "cases/test_cases_results.py::test_res_03_17_an_empty_output_says_no_more_than_that",
    ),
    "tool ignoring abort": built(
        "a tool that does not stop is left behind after the grace time",
        _ABORT + "a_plain_tool_that_ignores_the_abort_is_abandoned_after_the_grace_time",
    ),
    "empty prompt list": built(
        "an empty prompt is refused before anything happens",
        _BOX + "an_empty_prompt_is_refused_before_anything_happens",
    ),
    "low-level stream after a callback exception": built(
        "a stream ends when what it runs fails",
        _ROUNDS + "a_stream_ends_when_a_plugin_fails_and_raises_what_run_would",
    ),
    "exception on agent_end": built(
        "a failure while the end is announced leaves a good run good",
        _ROUNDS + "a_listener_that_fails_at_the_very_end_leaves_a_good_run_good",
        "core/test_ending.py::test_every_on_complete_is_called_though_some_fail",
    ),
}
