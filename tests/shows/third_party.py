"""Three distributions of other people, built and installed beside the built wheel, in an environment of their own."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from checks.environment import Environment
from tests.shows.processes import Done, run_process, user_variables

ROOT = Path(__file__).resolve().parents[2]
PROJECT = """\
[build-system]
requires = ["hatchling>=1.27,<2"]
build-backend = "hatchling.build"

[project]
name = "{distribution}"
version = "{version}"
requires-python = ">=3.11"
dependencies = ["hookagent>=0.1,<0.2"]

[project.entry-points.hookagent]
{name} = "{target}"
"""
# What each module does first: it leaves a trace of having been imported.
CANARY = """\
from pathlib import Path

with Path({canary!r}).open("a") as file:
    print(__name__, file=file)
"""
HOUSE_STYLE = '''
from pydantic import BaseModel, ConfigDict

from hookagent import Replace, hookimpl


class Plugin:
    """Reminds the model of the house's style, tells its motto on request, and signs its answers."""

    class Options(BaseModel):
        model_config = ConfigDict(extra="forbid", frozen=True)

        motto: str = "be brief"
        signature: str = ""

    def __init__(self, options):
        self.options = options

    @hookimpl
    def register_tools(self, register):
        def house_motto() -> str:
            """Tell the motto of the house."""
            return f"The motto is: {self.options.motto}."

        register(house_motto, effect="reads")

    @hookimpl
    def before_llm(self, iteration):
        return "Remember the style of the house." if iteration == 1 else None

    @hookimpl
    async def after_llm(self, response):
        if response.tool_calls or not self.options.signature:
            return None
        return Replace(response.changed(text=f"{response.text} -- {self.options.signature}"))
'''
BROKEN = "import a_library_that_nobody_has\n"
NAMESAKE = """
from hookagent import hookimpl


@hookimpl
def after_tools(tool_round):
    return "What did you learn?"
"""


class Project(NamedTuple):
    """A distribution with one module, `target` up to a colon, and one entry point, `name`."""

    distribution: str
    version: str
    name: str
    target: str
    code: str

    def write(self, folder: Path, canary: Path) -> None:
        module = self.target.partition(":")[0]
        package, _, inner = module.partition(".")
        (folder / package).mkdir(parents=True)
        (folder / package / "__init__.py").touch()
        (folder / package / f"{inner or '__init__'}.py").write_text(CANARY.format(canary=str(canary)) + self.code)
        (folder / "pyproject.toml").write_text(PROJECT.format(**self._asdict()))


PROJECTS = (
    Project("hookagent-house-style", "1.4", "house-style", "hookagent_house_style:Plugin", HOUSE_STYLE),
    Project("hookagent-broken-style", "0.3", "broken-style", "hookagent_broken_style:Plugin", BROKEN),
    Project("hookagent-other-reflection", "2.0", "reflection", "hookagent_other_reflection.hooks", NAMESAKE),
)


class Installed:
    """The environment with everything installed; `canary` holds the modules of PROJECTS that were imported."""

    def __init__(self, work: Path) -> None:
        self.canary = work / "imported.txt"
        self._home = work / "home"
        environment = Environment(work / "environment")
        for project in PROJECTS:
            project.write(work / project.distribution, self.canary)
        folders = [str(work / project.distribution) for project in PROJECTS]
        wheels = work / "wheels"
        pip = [str(environment.python), "-m", "pip"]
        environment.run([*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", str(wheels), str(ROOT), *folders])
        environment.install(*map(str, sorted(wheels.glob("*.whl"))))
        self._command = environment.bin / "hookagent"

    def hookagent(self, folder: Path, *words: str) -> Done:
        """Run the installed command in `folder`, where nothing of this checkout can be found."""
        variables = user_variables(self._home, python_path=False)
        done = run_process([self._command, *words], folder, variables)
        assert "Traceback" not in done.stderr
        return done

    @property
    def imported(self) -> list[str]:
        return self.canary.read_text().split() if self.canary.exists() else []
