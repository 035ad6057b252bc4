"""Which test holds which public case: order, aborts and resumes, parallel tools, arguments, results, approval.

`COVERED` maps a case to "file::test"; the id stands in the test's name or in the id of a parameter. `EXPECTED_FAILURES`
are cases that need what is not built yet, with what is missing; `WITHOUT` those that have no test, with the line of the
design that rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_ORDERING = "test_cases_ordering.py::test_ord_"
_ABORT = "test_cases_abort.py::test_abr_"
_RESUME = "test_cases_resume.py::test_abr_"
_PARALLEL = "test_cases_parallel.py::test_par_"
_ARGUMENTS = "test_cases_arguments.py::test_arg_"
_SCHEMA = "test_cases_schema.py::test_arg_"
_RESULTS = "test_cases_results.py::test_res_"
_APPROVAL = "test_cases_approval.py::test_apr_"
_NOBODY = "test_cases_nobody_there.py::test_apr_"

COVERED: Final[Mapping[str, str]] = {
    "ORD-01": _ORDERING + "01_what_is_added_in_an_open_round_lands_behind_it",
    "ORD-02": _ORDERING + "02_context_of_every_turn_stands_behind_the_results",
    "ORD-04": _ORDERING + "04_no_blank_text_is_sent_from_anywhere",
    "ORD-05": _ORDERING + "05_trailing_white_space_is_cut_for_the_wire_alone",
    "ORD-07": _ORDERING + "07_an_answer_is_never_deleted_to_make_a_request_end_well",
    "ORD-10": _ORDERING + "10_an_empty_prompt_is_refused_before_anything_is_sent",
    "ORD-11": _ORDERING + "11_a_call_that_comes_in_two_places_is_one_call",
    "ORD-12": _ORDERING + "12_a_saved_call_that_stands_twice_is_sent_with_ids_of_its_own",
    "ORD-14": _ORDERING + "14_15_an_id_given_twice_swallows_no_call",
    "ORD-15": _ORDERING + "14_15_an_id_given_twice_swallows_no_call",
    "ORD-17": _ORDERING + "17_text_added_inside_the_history_is_of_the_user_role",
    "ABR-01": _ABORT + "01_an_abort_while_a_tool_runs_answers_every_call",
    "ABR-03": _RESUME + "03_an_orphan_call_is_answered_at_its_place",
    "ABR-05": _ABORT + "05_a_failed_request_leaves_the_round_before_it_closed",
    "ABR-07": _RESUME + "07_a_cut_falls_between_rounds_and_keeps_the_task",
    "ABR-09": _RESUME + "09_an_orphan_result_costs_no_question",
    "ABR-10": _RESUME + "10_one_result_per_call_and_none_without",
    "ABR-11": _RESUME + "11_signed_thinking_comes_back_from_disk_as_it_was",
    "ABR-13": _ABORT + "13_thinking_that_was_cut_off_is_never_replayed",
    "ABR-15": _ABORT + "15_a_steered_message_is_stored_or_still_queued",
    "ABR-17": _ABORT + "17_what_is_queued_before_and_after_an_abort_is_kept_in_order",
    "ABR-18": _ABORT + "18_results_that_exist_are_not_computed_again",
    "ABR-19": _RESUME + "19_both_mirror_images_are_repaired_by_one_rule",
    "PAR-01": _PARALLEL + "01_each_call_settles_alone",
    "PAR-03": _PARALLEL + "03_stop_on_failure_starts_nothing_more",
    "PAR-05": _PARALLEL + "05_the_callers_context_is_there_in_every_kind_of_tool",
    "PAR-07": _PARALLEL + "07_plain_tools_run_side_by_side",
    "PAR-08": _PARALLEL + "07_08_any_kind_of_callable_and_the_loop_goes_on",
    "PAR-09": _PARALLEL + "09_every_question_of_a_round_is_asked",
    "PAR-11": _PARALLEL + "11_results_stand_in_call_order_whatever_ends_first",
    "ARG-01": _ARGUMENTS + "01_blank_arguments_are_no_arguments",
    "ARG-03": _ARGUMENTS + "03_broken_arguments_never_run_and_never_stop_a_request",
    "ARG-05": _ARGUMENTS + "05_a_list_of_objects_that_comes_as_text_is_read",
    "ARG-06": _ARGUMENTS + "06_reading_is_guided_by_the_schema_at_every_level",
    "ARG-07": _ARGUMENTS + "07_arguments_in_a_keys_name_are_refused_not_guessed",
    "ARG-08": _ARGUMENTS + "08_an_unknown_tool_ends_nothing",
    "ARG-10": _ARGUMENTS + "10_the_nearest_name_is_offered_and_not_run",
    "ARG-11": _SCHEMA + "11_postponed_annotations_are_resolved_where_they_stand",
    "ARG-12": _SCHEMA + "12_the_wrapped_function_is_described_and_the_wrapper_called",
    "ARG-14": _SCHEMA + "14_a_description_is_taken_whole",
    "ARG-16": _SCHEMA + "16_what_has_a_default_can_be_left_out_on_every_wire",
    "ARG-18": _SCHEMA + "18_no_parameter_is_filled_in_by_its_name",
    "ARG-19": _SCHEMA + "19_likely_names_keep_their_types_and_values",
    "ARG-20": _SCHEMA + "20_a_name_that_would_have_to_be_cleaned_is_refused",
    "ARG-22": _SCHEMA + "22_a_name_is_never_cut",
    "ARG-25": _ARGUMENTS + "25_a_tool_that_failed_is_not_run_again",
    "RES-01": _RESULTS + "01_a_structure_with_everything_in_it",
    "RES-03": _RESULTS + "03_17_an_empty_output_says_no_more_than_that",
    "RES-05": _RESULTS + "05_a_failure_without_content_shows_its_error",
    "RES-06": _RESULTS + "06_an_interrupt_stops_the_run_with_all_calls_answered",
    "RES-08": _RESULTS + "08_a_tool_cannot_end_the_host",
    "RES-09": _RESULTS + "09_half_a_pair_reaches_neither_wire_nor_disk",
    "RES-12": _RESULTS + "12_numbers_that_json_has_not_never_reach_a_request",
    "RES-13": _RESULTS + "13_one_limit_for_every_tool",
    "RES-15": _RESULTS + "15_a_failure_is_flagged_beside_its_text",
    "RES-17": _RESULTS + "03_17_an_empty_output_says_no_more_than_that",
    "APR-01": _NOBODY + "01_a_limit_asks_nobody_for_more",
    "APR-02": _NOBODY + "02_no_terminal_means_no_at_once_and_the_model_is_told",
    "APR-05": _APPROVAL + "05_leave_for_one_command_is_none_for_a_chain",
    "APR-07": _APPROVAL + "07_08_always_means_exactly_what_was_shown",
    "APR-08": _APPROVAL + "07_08_always_means_exactly_what_was_shown",
    "APR-09": _APPROVAL + "09_what_cannot_be_told_apart_with_certainty_is_asked_about",
    "APR-11": _APPROVAL + "11_a_refused_call_stays_in_the_history_and_does_not_run",
    "APR-13": _APPROVAL + "13_what_changed_while_the_session_waited_does_not_run",
    "APR-14": _APPROVAL + "14_the_person_sees_what_runs",
    "APR-15": _APPROVAL + "15_edited_arguments_are_checked_shown_and_told",
    "APR-16": _APPROVAL + "16_a_command_cannot_pose_as_another",
    "APR-19": _APPROVAL + "19_an_answer_is_for_one_call_and_none_in_time_is_a_no",
}

EXPECTED_FAILURES: Final[Mapping[str, tuple[str, str]]] = {}

WITHOUT: Final[Mapping[str, str]] = {}
