"""`check_plugin`: drives a plugin through all reference runs, and says everything that is wrong with it at once."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from hookagent import ConfigurationError
from hookagent.testing.plugin_check.evidence import Evidence, Neighbours, carry_out, carry_out_sync, load_failure
from hookagent.testing.plugin_check.findings import ALL_RUNS, Aftermath, Findings, PluginReport
from hookagent.testing.plugin_check.isolation import leaks
from hookagent.testing.plugin_check.judging import Problem, problems_of
from hookagent.testing.plugin_check.loading import Loading
from hookagent.testing.plugin_check.model import WIRES, Line
from hookagent.testing.plugin_check.providers import check_provider, is_provider_name
from hookagent.testing.plugin_check.runs import RUNS

if TYPE_CHECKING:
    from hookagent.clock import Clock

_TOGETHER = "two sessions at the same time"


def check_plugin(
    plugin: Any, options: Mapping[str, Any] | None = None, *, clock: Clock | None = None, seconds: float = 30.0
) -> PluginReport:
    """Prove in one line of a test that a plugin keeps the hook contract.

    `plugin` is a name (as in YAML, with its `options`), a plugin object, a function marked `@hookimpl`, or a class or
    function without arguments that makes a plugin, which is then made anew for each run. It goes through the reference
    runs (no tools, three tools in parallel and in sequence, failing tools, a denial, waiting and resuming, an abort, a
    limit, a failing model, streaming with steering, two turns, `run_sync`, a nested agent, `call_tool`), first with a
    scripted model and then over all three wire forms, by the real SDKs, to the strict server. Checked is what the
    design promises: no hook fails, is slow, or returns what it must not; every `before_` has its `after_`; transcript
    and requests are valid; nothing is changed in place; sessions are kept apart, and the process is left as it was; no
    warning, no task and no exception is left behind; and for a name: it is found by one entry point, imported only
    when enabled, and a wrong option is an error at its place in the file.

    The name of a provider (of the group `hookagent.providers`) is checked as `check_provider` does.

    `clock` is the agents' (a `FakeClock` for a plugin that waits); `seconds` is the most that one run may take.
    Raises `AssertionError` with all that is wrong: in which run, in which hook, and what to do.
    """
    if isinstance(plugin, str) and is_provider_name(plugin):
        return check_provider(plugin, seconds=seconds)
    findings = Findings()
    runs: list[str] = []
    requests = 0
    name: str | None = None
    loading = Loading(plugin, options) if isinstance(plugin, str) else None
    more: dict[str, Any] = {} if clock is None else {"clock": clock}
    with Aftermath(findings), asyncio.Runner() as runner:
        bench = _Bench(_maker(plugin, options), options if isinstance(plugin, str) else None, more, seconds, runner)
        name = bench.name(findings)
        if name is not None:
            runs += bench.run_all(findings, name, None)[0]
            if not findings:
                findings.add(_TOGETHER, *runner.run(leaks(bench.make(), bench.options, more, seconds)))
            for wire in WIRES if not findings else ():
                with Line(wire) as line:
                    more_runs, taken = bench.run_all(findings, name, line)
                    findings.add(ALL_RUNS, *(_server_failure(error) for error in line.server.failures))
                runs += more_runs
                requests += taken
    if loading is not None:
        findings.add("loading", *loading.problems())
    return findings.report(name or str(plugin), runs, requests)


class _Bench:
    """Makes the plugin for each run, and carries the runs out."""

    def __init__(
        self,
        make: Callable[[], Any],
        options: Mapping[str, Any] | None,
        more: Any,
        seconds: float,
        runner: asyncio.Runner,
    ) -> None:
        self.make = make
        self.options = options
        self._more = more
        self._seconds = seconds
        self._runner = runner
        self._neighbours = Neighbours()

    def name(self, findings: Findings) -> str | None:
        """What the plugin is called, or None when no agent can be made with it."""
        evidence = self._prepare(0, None, findings)
        return None if evidence is None or evidence.agent is None else evidence.agent.plugins[1].name

    def run_all(self, findings: Findings, name: str, line: Line | None) -> tuple[list[str], int]:
        """Carry out every reference run; gives their names, and how many requests the strict server got."""
        names: list[str] = []
        requests = 0
        for number, run in enumerate(RUNS):
            if line is not None and not run.on_wires:
                continue
            evidence = self._prepare(number, line, findings)
            if evidence is None:
                continue
            if run.drive is None:
                carry_out_sync(evidence)
            else:
                self._runner.run(carry_out(evidence, line, self._seconds))
            findings.add(evidence.name, *problems_of(evidence, name))
            names.append(evidence.name)
            requests += evidence.requests
            if evidence.too_long:
                break
        return names, requests

    def _prepare(self, number: int, line: Line | None, findings: Findings) -> Evidence | None:
        try:
            return self._neighbours.prepare(RUNS[number], self.make(), self.options, line, self._more)
        except ConfigurationError as error:
            remedy = "mend what is named; `hookagent plugins list` shows whether a plugin can be loaded"
            findings.add("loading", Problem(f"no agent can be made with it: {load_failure(error)}", remedy))
            return None


def _maker(plugin: Any, options: Mapping[str, Any] | None) -> Callable[[], Any]:
    if inspect.isclass(plugin):
        made: Any = plugin
        return made if options is None else lambda: made(made.Options(**options))
    if inspect.isroutine(plugin) and not hasattr(plugin, "hookagent_impl"):
        return plugin
    return lambda: plugin


def _server_failure(error: BaseException) -> Problem:
    return Problem(f"the strict server failed: {type(error).__name__}: {error}", "report this; it is no plugin's fault")
