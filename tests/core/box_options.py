"""What the constructor of the Agent class that this box is modelled on takes, and what stands for it here.

The page docs/explanation/coming-from-an-agent-class.md tells the same to those who come from there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.core.box_lines import Row, refused, replaced

_STATE = "core/test_box_behaviour.py::test_"
_WAITS = "core/test_box_queues.py::test_"
_ROUNDS = "core/test_box_rounds.py::test_"
_BOX = "core/test_agent_box.py::test_"
_QUEUES = "core/test_agent_queues.py::test_"
_GATES = "core/test_gates.py::test_"
_KEPT = "core/test_kept_sessions.py::test_"
_MID_RUN = _BOX + "model_tools_and_system_prompt_changed_in_mid_run_count_from_the_next_request"
_AROUND = _ROUNDS + "a_hook_around_the_model_sees_the_whole_reply_and_may_answer_in_its_place"
_SENT = _STATE + "what_an_agent_is_made_of_can_be_read_and_is_sent"
_CHOSEN = _STATE + "a_request_has_exactly_the_blocks_that_a_plugin_chose_and_the_transcript_all"
_SETTINGS = "providers/test_providers_settings.py::test_"

OPTIONS: Final[Mapping[str, Row]] = {
    "initialState.systemPrompt": replaced("the system text", "Agent(system_prompt=)", _SENT, _MID_RUN),
    "initialState.model": replaced("the model", "Agent(model=)", _SENT, _MID_RUN),
    "initialState.thinkingLevel": replaced(
        "how hard to think", "Agent(model_settings=)", _SETTINGS + "one_vocabulary_for_all_vendors"
    ),
    "initialState.tools": replaced("the tools", "Agent(tools=)", _SENT),
    "initialState.messages": replaced(
        "the transcript to begin with",
        "Agent(session=)",
        _KEPT + "a_session_comes_back_by_the_beginning_of_its_id",
        why="a list made by hand is vouched for by nobody; a kept session, or a fork of one, is whole",
    ),
    "convertToLlm": replaced(
        "the transcript becomes what a vendor wants",
        "Provider.stream",
        "providers/test_generated_requests.py::test_every_request_passes_both_checkers_on_all_wires",
    ),
    "transformContext": replaced("what is sent is chosen", "shape_request", _CHOSEN),
    "streamFn": replaced(
        "the function that asks the model",
        "Agent(model=) Provider.stream wrap_model_call",
        _ROUNDS + "pieces_of_every_kind_are_passed_on_in_their_order",
        _AROUND,
    ),
    "getApiKey": replaced(
        "a key that is asked for before each request",
        "hookagent.providers.AnthropicProvider(api_key=) hookagent.providers.OpenAIResponsesProvider(api_key=)",
        "providers/test_providers_failures.py::test_a_function_is_asked_for_the_key_before_each_request",
    ),
    "onPayload": replaced(
        "the body is changed before it goes out",
        "shape_request Agent(model_settings=)",
        _SETTINGS + "extras_of_the_vendor_join_the_body_and_those_of_others_do_not",
        _SETTINGS + "settings_that_cannot_be",
        why="a body changed behind the last check could break the order that it vouches for",
    ),
    "onResponse": replaced(
        "status and headers of the response are shown",
        "wrap_model_call after_llm ResponseReceived",
        _AROUND,
        "providers/test_providers_failures.py::test_the_wait_that_headers_ask_for",
        why="what matters of them is in the error's kind and in the wait before a retry",
    ),
    "beforeToolCall": replaced(
        "a call is judged before it runs",
        "before_tools before_each_tool",
        _GATES + "of_two_verdicts_the_stricter_holds_from_every_pair_of_hooks",
    ),
    "afterToolCall": replaced(
        "a result is changed before it is stored",
        "after_each_tool",
        "core/test_ending.py::test_a_result_of_a_plugin_is_clean_and_says_one_thing",
    ),
    "steeringMode": replaced(
        "how much of the queue goes in", "Agent(steering_mode=)", _QUEUES + "steering_all_at_once"
    ),
    "followUpMode": replaced(
        "how much of the other queue goes in",
        "Agent(follow_up_mode=)",
        _WAITS + "follow_ups_go_in_one_at_a_time_or_all_at_once",
    ),
    "sessionId": replaced(
        "the id that vendors keep their caches by",
        "Session.id Agent(session=) Request.session_id",
        _STATE + "a_request_carries_the_id_of_the_session_and_a_new_one_after_reset",
    ),
    "thinkingBudgets": replaced(
        "tokens for each level of thinking",
        "Agent(model_settings=)",
        _SETTINGS + "extras_are_joined_with_what_we_send",
        why="the vendors moved to levels; who wants a number writes it under the vendor's own key",
    ),
    "transport": refused(
        "which transport a vendor's stream takes",
        "there is one for each wire form, and its connections may be the caller's own (`http_client=` of a provider)",
        "providers/test_providers_clients.py::test_a_pool_of_the_callers_is_used_and_left_open",
    ),
    "maxRetryDelayMs": replaced(
        "the longest wait that a server may ask for",
        "Agent(retry_policy=) hookagent.providers.RetryPolicy(max_wait=)",
        "providers/test_providers_retry.py::test_a_wait_that_the_server_asks_for_is_capped",
    ),
    "toolExecution": replaced(
        "one by one or side by side",
        "Agent(tool_execution=)",
        "core/test_hook_order.py::test_hooks_fire_in_order",
    ),
}  # fmt: skip
