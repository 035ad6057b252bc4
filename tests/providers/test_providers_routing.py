from __future__ import annotations

import importlib.machinery
import sys
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from hookagent.errors import ConfigurationError
from hookagent.providers import routing
from hookagent.providers.base import Provider
from hookagent.providers.scripted import ScriptedProvider

ECHO = ScriptedProvider(["hello"])


def make_echo(rest: str) -> ScriptedProvider:
    return ScriptedProvider(["hello"], model=rest)


def make_nothing(rest: str) -> object:
    return object()


def make_trouble(rest: str) -> object:
    raise RuntimeError("no licence")


class FakeDistribution:
    def __init__(self, name: str, version: str) -> None:
        self.name = name
        self.version = version


def entry(name: str, value: str, owner: str = "hookagent-echo") -> EntryPoint:
    point = EntryPoint(name, value, routing.ENTRY_POINT_GROUP)
    vars(point).update(dist=FakeDistribution(owner, "1.2"))
    return point


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setitem(sys.modules, "echo_module_for_routing", sys.modules[__name__])

    def add(*points: EntryPoint) -> None:
        def entry_points(*, group: str, name: str | None = None) -> list[EntryPoint]:
            assert group == "hookagent.providers"
            return [point for point in points if name is None or point.name == name]

        monkeypatch.setattr(routing, "entry_points", entry_points)

    return add


@pytest.mark.parametrize(
    ("named", "name", "model"),
    [
        ("anthropic:claude-sonnet-5", "anthropic", "claude-sonnet-5"),
        ("openai:gpt-5", "openai", "gpt-5"),
        ("openai-chat:llama:8b", "openai-chat", "llama:8b"),
        ("claude-haiku-4-5", "anthropic", "claude-haiku-4-5"),
        ("gpt-4o", "openai", "gpt-4o"),
        ("o3-mini", "openai", "o3-mini"),
    ],
)
def test_names_lead_to_their_provider(named: str, name: str, model: str) -> None:
    provider = routing.provider_for(named)
    assert isinstance(provider, Provider)
    assert (provider.name, provider.model) == (name, model)


def test_a_provider_is_given_back() -> None:
    assert routing.provider_for(ECHO) is ECHO


def test_a_script_is_read_from_its_file(tmp_path: Any) -> None:
    file = tmp_path / "replies.yaml"
    file.write_text("- hello\n")
    assert routing.provider_for(f"scripted:{file}").name == "scripted"


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("opnai:gpt-5", "unknown prefix 'opnai'; did you mean 'openai:'?"),
        ("mistral-large", "write it with its prefix, such as 'openai-chat:mistral-large'"),
        ("anthropc", "did you mean 'anthropic'?"),
        ("openai:", "names no model; write 'openai:' and a model"),
        ("scripted:", "names no file"),
        ("  ", "empty"),
        ("zzz:x", "there are: anthropic, openai, openai-chat, scripted"),
    ],
)
def test_a_name_that_leads_nowhere(named: str, said: str, install: Any) -> None:
    install()
    with pytest.raises(ConfigurationError) as failed:
        routing.provider_for(named)
    assert said in str(failed.value)


def test_an_object_that_is_no_provider() -> None:
    with pytest.raises(ConfigurationError, match="not a provider"):
        routing.provider_for(object())  # type: ignore[arg-type]


def test_an_entry_point_is_loaded_when_its_prefix_is_named(install: Any) -> None:
    install(entry("echo", "echo_module_for_routing:make_echo"), entry("broken", "no_such_module_at_all:x"))
    assert routing.provider_for("echo:loud").model == "loud"
    assert routing.provider_for("echo").model == ""


def test_two_distributions_with_one_prefix_are_both_named(install: Any) -> None:
    install(entry("echo", "echo_module_for_routing:make_echo"), entry("echo", "other:make", "hookagent-other"))
    with pytest.raises(ConfigurationError, match=r"hookagent-echo 1\.2 and hookagent-other 1\.2"):
        routing.provider_for("echo:x")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("no_such_module_at_all:x", "cannot be loaded: ModuleNotFoundError: No module named 'no_such_module_at_all'"),
        ("echo_module_for_routing:nothing_here", "cannot be loaded: AttributeError"),
        ("echo_module_for_routing:make_trouble", "cannot be made: RuntimeError: no licence"),
        ("echo_module_for_routing:make_nothing", "gave object, not a Provider"),
    ],
)
def test_a_broken_entry_point_is_named_with_its_version_and_reason(value: str, said: str, install: Any) -> None:
    install(entry("echo", value))
    with pytest.raises(ConfigurationError) as failed:
        routing.provider_for("echo:x")
    assert "'echo' (hookagent-echo 1.2)" in str(failed.value)
    assert said in str(failed.value)


def test_a_key_in_the_environment_decides(monkeypatch: pytest.MonkeyPatch, install: Any) -> None:
    install()
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    assert routing.default_model() == "openai:gpt-5"
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-y")
    assert routing.default_model() == "anthropic:claude-sonnet-5"
    monkeypatch.setenv("ANTHROPIC_API_KEY", " ")
    assert routing.default_model() == "openai:gpt-5"


def test_without_a_key_the_embedded_model_or_three_ways_on(monkeypatch: pytest.MonkeyPatch, install: Any) -> None:
    install(entry("local", "hookagent_local:make"))
    monkeypatch.delitem(sys.modules, "needle", raising=False)  # a test before this one may have loaded it
    engine = importlib.machinery.ModuleSpec("needle", None)
    monkeypatch.setattr(routing, "distribution", lambda name: FakeDistribution(name, "3.10.2"))
    monkeypatch.setattr(routing, "find_spec", lambda name: engine if name == "needle" else None)
    assert routing.default_model() == "local"
    assert "needle" not in sys.modules
    monkeypatch.setattr(routing, "find_spec", lambda name: None)
    with pytest.raises(ConfigurationError) as failed:
        routing.default_model()
    for way in ("ANTHROPIC_API_KEY", "OPENAI_BASE_URL", "pip install 'hookagent[local]'"):
        assert way in str(failed.value)
    install()
    with pytest.raises(ConfigurationError):
        routing.default_model()
