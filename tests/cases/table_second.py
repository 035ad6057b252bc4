"""Which test holds which public case: window, providers, plugins, configuration, command, sessions, loops and cost.

What the three tables mean is said in `table_first`. Beside the test that is named, some cases have more of the same
beginning.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_WINDOW = "test_cases_context_window.py::test_ctx_"
_CUT = "test_cases_cut_replies.py::test_ctx_"
_REPLIES = "test_cases_failed_replies.py::test_prv_"
_SETTINGS = "test_cases_model_settings.py::test_prv_"
_PLUGINS = "test_cases_plugin_system.py::test_plg_"
_CONFIG = "test_cases_config.py::test_cfg_"
_CLI = "test_cases_cli.py::test_cli_"
_DAMAGED = "test_cases_damaged_sessions.py::test_log_"
_SESSIONS = "test_cases_sessions_logs.py::test_log_"
_LOOPS = "test_cases_loops_cost.py::test_loop_"

COVERED: Final[Mapping[str, str]] = {
    "CTX-01": _WINDOW + "01_what_cannot_be_made_shorter_is_said_once_and_not_tried_for_ever",
    "CTX-03": _WINDOW + "03_useless_summaries_are_tried_twice_in_all",
    "CTX-04": _WINDOW + "04_a_long_tool_loop_is_shortened_between_its_rounds",
    "CTX-05": _WINDOW + "05_the_questions_for_a_summary_are_bounded_too",
    "CTX-08": _WINDOW + "08_system_text_first_task_and_newest_message_are_never_dropped",
    "CTX-10": _WINDOW + "10_an_unknown_window_has_no_percentage",
    "CTX-12": _WINDOW + "12_the_gauge_does_not_fall_between_replies",
    "CTX-13": _WINDOW + "13_the_size_of_a_prompt_is_the_same_on_every_wire",
    "CTX-14": _CUT + "14_a_cut_call_is_answered_with_the_reason_and_is_not_taken_for_no_arguments",
    "CTX-15": _CUT + "15_nothing_of_a_cut_reply_is_trusted_though_it_looks_whole",
    "CTX-17": _CUT + "17_broken_arguments_are_an_error_whatever_the_server_says_of_the_end",
    "CTX-19": _WINDOW + "19_a_refusal_as_too_long_lowers_the_window_that_is_believed",
    "PRV-01": _REPLIES + "01_an_overload_inside_a_stream_is_tried_again_while_nobody_saw_a_piece",
    "PRV-02": _REPLIES + "02_a_stream_without_its_end_is_never_the_answer",
    "PRV-05": _REPLIES + "05_a_reply_without_content_is_a_typed_error_that_shows_it",
    "PRV-06": _REPLIES + "06_a_filtered_prompt_says_what_filtered_it_and_is_not_tried_again",
    "PRV-07": _REPLIES + "07_an_empty_reply_is_never_an_answer_and_unknown_reasons_stay_unknown",
    "PRV-10": _REPLIES + "10_calls_without_an_id_get_one_each_and_keep_it",
    "PRV-12": _REPLIES + "12_an_id_that_was_made_when_reading_is_the_same_after_a_resume",
    "PRV-13": _REPLIES + "13_calls_that_came_decide_and_not_the_word_for_the_end",
    "PRV-15": _SETTINGS + "15_the_output_limit_has_the_name_that_the_model_takes",
    "PRV-16": _SETTINGS + "16_a_setting_of_the_users_is_never_dropped_in_silence",
    "PRV-17": _SETTINGS + "17_the_wish_for_parallel_calls_is_never_sent",
    "PRV-19": _REPLIES + "19_a_paused_turn_goes_back_unchanged_and_goes_on",
    "PLG-01": _PLUGINS + "01_a_plugin_that_cannot_be_imported_harms_no_other",
    "PLG-04": _PLUGINS + "04_every_loading_error_names_plugin_distribution_and_version",
    "PLG-05": _PLUGINS + "05_every_outer_wrapper_cleans_up_once_and_the_one_that_raised_is_named",
    "PLG-06": _PLUGINS + "06_what_really_happened_stays_reachable_behind_translated_errors",
    "PLG-08": _PLUGINS + "08_a_misspelt_hook_is_refused_with_the_nearest_name",
    "PLG-09": _PLUGINS + "09_an_argument_that_a_hook_does_not_have_is_refused_by_name",
    "PLG-11": _PLUGINS + "11_two_distributions_of_one_name_are_both_named_and_one_can_be_chosen",
    "PLG-13": _PLUGINS + "13_a_plugin_named_twice_is_refused_or_runs_once",
    "PLG-14": _PLUGINS + "14_what_is_not_switched_on_is_never_imported",
    "CFG-01": _CONFIG + "01_only_true_and_false_are_booleans_and_keys_are_text",
    "CFG-03": _CONFIG + "03_aliases_cannot_blow_a_small_file_up",
    "CFG-05": _CONFIG + "05_a_byte_order_mark_is_dropped_whatever_the_locale",
    "CFG-07": _CONFIG + "07_what_cannot_be_read_stops_the_command_with_file_line_and_reason",
    "CFG-08": _CONFIG + "08_unknown_keys_are_errors_at_every_level_and_all_at_once",
    "CFG-10": _CONFIG + "10_a_variable_without_value_names_itself_and_its_place",
    "CFG-11": _CONFIG + "11_the_value_of_a_variable_is_text_whatever_it_holds",
    "CFG-14": _CONFIG + "14_a_key_given_twice_names_both_lines",
    "CFG-15": _CONFIG + "15_a_file_that_says_nothing_is_the_defaults",
    "CLI-01": _CLI + "01_a_reader_that_leaves_is_a_quiet_end",
    "CLI-03": _CLI + "03_every_kind_of_end_has_its_own_code_and_its_text_on_standard_error",
    "CLI-05": _CLI + "05_a_blank_task_asks_no_model",
    "CLI-07": _CLI + "07_every_way_to_give_a_task_works_and_none_is_dropped",
    "CLI-08": _CLI + "08_no_answer_is_lost_to_the_encoding_of_the_output",
    "CLI-11": _CLI + "11_what_is_not_there_is_an_error_and_no_success",
    "LOG-01": _DAMAGED + "01_a_record_that_is_only_half_there_costs_that_record_alone",
    "LOG-02": _DAMAGED + "02_what_is_written_behind_a_torn_record_is_not_lost_with_it",
    "LOG-04": _DAMAGED + "04_records_behind_a_bad_one_are_all_there",
    "LOG-05": _DAMAGED + "05_it_does_not_matter_which_record_is_the_bad_one",
    "LOG-06": _SESSIONS + "06_an_id_that_could_be_a_path_is_refused_everywhere",
    "LOG-08": _SESSIONS + "08_of_two_processes_one_has_the_session_until_it_is_gone",
    "LOG-10": _SESSIONS + "10_a_full_disk_is_said_at_once_and_nothing_is_lost_of_what_follows",
    "LOG-11": _SESSIONS + "11_a_key_is_in_no_file_and_in_no_output",
    "LOG-14": _SESSIONS + "14_each_record_is_written_once_whatever_the_length",
    "LOG-17": _SESSIONS + "17_a_compaction_is_not_undone_by_a_resume",
    "LOOP-01": _LOOPS + "01_equal_calls_with_equal_results_are_warned_of_and_then_stopped",
    "LOOP-04": _LOOPS + "04_rounds_are_compared_without_the_order_of_keys_and_calls",
    "LOOP-05": _LOOPS + "05_a_run_at_its_limit_does_not_look_like_a_success",
    "LOOP-06": _LOOPS + "06_at_a_limit_the_answer_is_never_empty",
    "LOOP-07": _LOOPS + "07_a_limit_of_n_is_n_model_calls_with_tools",
    "LOOP-09": _LOOPS + "09_tokens_from_the_cache_are_charged_once",
    "LOOP-11": _LOOPS + "11_tokens_written_to_the_cache_are_charged_as_written_only",
    "LOOP-13": _LOOPS + "13_agents_that_start_agents_end_at_the_limit_they_share",
}

EXPECTED_FAILURES: Final[Mapping[str, tuple[str, str]]] = {}

WITHOUT: Final[Mapping[str, str]] = {}
