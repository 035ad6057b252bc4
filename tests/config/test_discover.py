"""Which file is found from where."""

from pathlib import Path

import pytest

from hookagent.config import ConfigError, load_config, read_config
from hookagent.config.discover import find_config


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "home" / "repository"
    (root / "package" / "deep").mkdir(parents=True)
    (root / ".git").mkdir()
    return root


def found(working_directory: Path, home: Path | None = None) -> Path | None:
    return find_config(working_directory, home)


@pytest.mark.parametrize("name", ["hookagent.yaml", "hookagent.yml"])
@pytest.mark.parametrize("folder", [".", "package", "package/deep"])
def test_upwards_to_the_root_of_the_repository(repository: Path, name: str, folder: str) -> None:
    (repository / folder / name).write_text("model: m")
    assert found(repository / "package" / "deep") == repository / folder / name


def test_the_nearest_file_wins(repository: Path) -> None:
    (repository / "hookagent.yaml").touch()
    (repository / "package" / "hookagent.yml").touch()
    assert found(repository / "package" / "deep") == repository / "package" / "hookagent.yml"


def test_not_above_the_repository(repository: Path) -> None:
    (repository.parent / "hookagent.yaml").touch()
    assert found(repository / "package", repository.parent) is None


def test_a_worktree_has_a_git_file(repository: Path) -> None:
    (repository / "package" / ".git").write_text("gitdir: elsewhere")
    (repository / "hookagent.yaml").touch()
    assert found(repository / "package" / "deep") is None


def test_upwards_to_home_outside_a_repository(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "notes").mkdir(parents=True)
    (tmp_path / "hookagent.yaml").touch()
    assert found(home / "notes", home) is None
    (home / "hookagent.yaml").touch()
    assert found(home / "notes", home) == home / "hookagent.yaml"


def test_a_home_that_is_a_link(tmp_path: Path) -> None:
    (tmp_path / "real" / "notes").mkdir(parents=True)
    (tmp_path / "home").symlink_to(tmp_path / "real")
    (tmp_path / "real" / "hookagent.yaml").touch()
    assert found(tmp_path / "real" / "notes", tmp_path / "home") == tmp_path / "real" / "hookagent.yaml"


def test_outside_of_both_only_the_working_directory_counts(tmp_path: Path) -> None:
    inner = tmp_path / "shared" / "mine"
    inner.mkdir(parents=True)
    (tmp_path / "shared" / "hookagent.yaml").touch()
    assert found(inner, tmp_path / "nowhere") is None
    assert found(inner, None) is None
    (inner / "hookagent.yaml").touch()
    assert found(inner, None) == inner / "hookagent.yaml"


def test_both_spellings_side_by_side_are_an_error(repository: Path) -> None:
    (repository / "hookagent.yaml").touch()
    (repository / "hookagent.yml").touch()
    with pytest.raises(ConfigError) as caught:
        found(repository / "package")
    assert str(caught.value) == "../hookagent.yaml: 'hookagent.yml' lies beside it; keep one of the two"


def test_pyproject_stands_in_when_there_is_no_yaml(repository: Path) -> None:
    section = repository / "pyproject.toml"
    section.write_text("[tool.hookagent]\nmodel = 'm'\n")
    (repository / "package" / "pyproject.toml").write_text("[project]\nname = 'hookagent'\n[tool.ruff]\n")
    assert found(repository / "package" / "deep") == section
    (repository / "hookagent.yaml").touch()
    assert found(repository / "package" / "deep") == repository / "hookagent.yaml"


def test_a_broken_pyproject_is_an_error_only_when_it_speaks_of_hookagent(repository: Path) -> None:
    path = repository / "pyproject.toml"
    path.write_text("[tool.ruff\n")
    assert found(repository) is None
    path.write_text("[tool.hookagent]\nmodel = \n")
    with pytest.raises(ConfigError, match=r"^pyproject\.toml:2:9: this is not valid TOML: invalid value"):
        load_config(working_directory=repository, environment={})


def test_no_file_means_the_defaults(repository: Path) -> None:
    loaded = read_config(working_directory=repository, environment={})
    assert loaded.file is None
    assert loaded.config.plugins is None
    assert loaded.config.limits.max_iterations == 10
    assert loaded.config.tool_result_limit == 100_000


def test_the_file_is_named_as_the_user_would_type_it(repository: Path) -> None:
    (repository / "hookagent.yaml").write_text("x: 1")
    with pytest.raises(ConfigError, match=r"^\.\./\.\./hookagent\.yaml:1:1: unknown key 'x'$"):
        load_config(working_directory=repository / "package" / "deep", environment={})
    with pytest.raises(ConfigError, match=r"^deep/\.\./\.\./hookagent\.yaml:1:1: unknown key 'x'$"):
        load_config("deep/../../hookagent.yaml", working_directory=repository / "package", environment={})


def test_a_prompt_file_starts_at_the_file_that_names_it(repository: Path) -> None:
    (repository / "prompts").mkdir()
    (repository / "prompts" / "tidy.md").write_text("Tidy up ${HOME} for $$5.\n")
    (repository / "hookagent.yaml").write_text("system_prompt: {file: prompts/tidy.md}")
    deep = repository / "package" / "deep"
    assert load_config(working_directory=deep, environment={}).system_prompt == "Tidy up ${HOME} for $$5.\n"
    (deep / "own.md").write_text("Own.")
    config = load_config(working_directory=deep, overrides=["system_prompt={file: own.md}"], environment={})
    assert config.system_prompt == "Own."


def test_a_working_directory_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(ConfigError, match="working directory: it does not exist any more"):
        load_config(environment={})
    monkeypatch.chdir(tmp_path)
