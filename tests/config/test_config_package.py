"""What importing the package costs, and what it offers."""

import os
import subprocess
import sys

import pytest

import hookagent.config


def test_importing_the_package_imports_no_yaml_and_no_pydantic() -> None:
    script = (
        "import sys, hookagent.config, hookagent.config.problems, hookagent.config.secrets\n"
        "heavy = {'yaml', 'pydantic', 'tomllib', 'anthropic', 'openai'} & set(sys.modules)\n"
        "hookagent.config.ConfigError\n"
        "print(sorted(heavy | ({'yaml', 'pydantic'} & set(sys.modules))))"
    )
    # A measured process would have loaded what coverage needs.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
    assert answer.stdout.strip() == "[]"


@pytest.mark.parametrize("name", hookagent.config.__all__)
def test_every_public_name_is_there_and_described(name: str) -> None:
    assert getattr(hookagent.config, name).__doc__


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'load_configuration'"):
        _ = hookagent.config.load_configuration
