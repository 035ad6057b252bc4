from __future__ import annotations

import subprocess
import sys

import pytest

import hookagent.testing
from hookagent.testing import Call, Fault, Reply, Thinking
from hookagent.testing.server import ScriptError
from hookagent.testing.server.replies import Script
from hookagent.testing.server.signing import TranscriptSigner


def test_parts_stand_in_the_order_thinking_text_calls() -> None:
    call = Call("look")
    assert Reply("text", [call], thinking="hm").all_parts() == [Thinking("hm"), "text", call]
    assert Reply(parts=[call, "text"]).all_parts() == [call, "text"]


def test_the_stop_reason_follows_from_the_parts_unless_set() -> None:
    assert Reply("text").neutral_stop() == "end"
    assert Reply(calls=[Call("look")]).neutral_stop() == "tool_use"
    assert Reply(calls=[Call("look")], stop="end").neutral_stop() == "end"


def test_contradictory_replies_are_refused_at_once() -> None:
    with pytest.raises(ValueError, match="parts cannot be given beside text"):
        Reply("text", parts=["more"])
    with pytest.raises(ValueError, match="leaves no reply"):
        Reply("text", fault=Fault(status=500))


def test_a_script_is_used_up_in_order() -> None:
    script = Script([Reply("a"), lambda body: Reply(body["model"])])
    script.extend([Fault(status=500)])

    assert script.remaining == 3
    assert script.next({}) == Reply("a")
    assert script.next({"model": "m"}) == Reply("m")
    assert script.next({}) == Fault(status=500)
    with pytest.raises(ScriptError, match="all 3 were used"):
        script.next({})
    assert script.remaining == 0


def test_one_callable_answers_everything() -> None:
    script = Script(lambda body: Reply(body["model"]))

    assert [script.next({"model": name}) for name in "ab"] == [Reply("a"), Reply("b")]


def test_a_signature_belongs_to_its_text_its_purpose_and_its_key() -> None:
    signer, other = TranscriptSigner(), TranscriptSigner(b"other")
    signature = signer.sign_thinking("hm")

    assert signer.thinking_is_genuine("hm", signature)
    assert not signer.thinking_is_genuine("hm ", signature)
    assert not other.thinking_is_genuine("hm", signature)
    assert not signer.reasoning_is_genuine("hm", signature)
    assert not signer.thinking_is_genuine("hm", "é\ud800")
    assert signer.redacted_is_genuine(signer.make_redacted("secret"))
    assert "secret" not in signer.make_redacted("secret")


def test_item_ids_remember_the_reasoning_ahead_of_them() -> None:
    signer = TranscriptSigner()
    reasoning = signer.make_item_id("rs")

    assert signer.required_reasoning(reasoning) is None
    assert signer.required_reasoning(signer.make_item_id("fc", reasoning)) == reasoning


def test_the_public_names_are_there_and_loaded_late() -> None:
    for name in hookagent.testing.__all__:
        assert getattr(hookagent.testing, name) is not None
        assert name in dir(hookagent.testing)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        hookagent.testing.nothing  # noqa: B018

    code = "import sys, hookagent.testing; print([m for m in sys.modules if m.startswith('hookagent.testing.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
