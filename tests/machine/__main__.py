"""Run the state machine by hand, at any size.

python -m tests.machine --examples 100000 [--seed N] [--steps N] [--shrink]
"""

from __future__ import annotations

import argparse
import gc
import logging
import os
import sys
import tempfile
import traceback

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test


def main(arguments: list[str] | None = None) -> int:
    """Run it, and say what was done or what was found; gives the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.machine", description="Run the state machine.")
    parser.add_argument("--examples", type=int, default=300, help="how many examples")
    parser.add_argument("--seed", type=int, default=0, help="where the random numbers begin")
    parser.add_argument("--steps", type=int, default=6, help="how many steps an example has, at most")
    parser.add_argument("--shrink", action="store_true", help="make what was found as small as possible (takes time)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="hookagent-machine-", ignore_cleanup_errors=True) as home:
        os.environ["HOOKAGENT_HOME"] = home
        logging.getLogger("hookagent").addHandler(logging.NullHandler())
        logging.getLogger("hookagent").propagate = False
        return _run(options)


def _run(options: argparse.Namespace) -> int:
    from checks import tally
    from tests.machine.machine import AgentMachine

    how = settings(
        max_examples=options.examples,
        stateful_step_count=options.steps,
        deadline=None,
        database=None,
        report_multiple_bugs=False,
        phases=[Phase.generate, Phase.shrink] if options.shrink else [Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    found = 0
    try:
        run_state_machine_as_test(seed(options.seed)(AgentMachine), settings=how)
    except BaseException as error:
        traceback.print_exception(error, limit=-3)
        print("\n".join(getattr(error, "__notes__", ())))
        found = 1
    gc.collect()
    print("\n".join(tally.summary()))
    return found


if __name__ == "__main__":
    sys.exit(main())
