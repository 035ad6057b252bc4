"""Prove that the state machine has teeth: seed each fault into a copy of the product, and let the machine find it.

python -m tests.machine.seeded [NAME ...] [--examples N] [--jobs N]
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from tests.machine.seeded.copies import Copy
from tests.machine.seeded.fault import Fault
from tests.machine.seeded.table import FAULTS

SEEDS = (0, 1, 2)
EXAMPLES = 2500
CONTROL_EXAMPLES = 100
_FOUND = re.compile(r"^tests\.machine\.\w+\.(?:Found|Hangs)Error: (.*)$", re.MULTILINE)


class Verdict(NamedTuple):
    """What became of one fault: `said` is the first thing that an oracle said, or what went wrong otherwise."""

    name: str
    found: bool
    said: str
    seed: int = 0


def hunt(fault: Fault, examples: int = EXAMPLES) -> Verdict:
    """Let the machine loose on a copy of the product that has the fault, with one seed after the other."""
    said = "not found"
    with Copy(fault) as copy:
        for seed in SEEDS:
            code, output = copy.run_machine(examples, seed)
            found = _FOUND.search(output)
            if found is not None:
                return Verdict(fault.name, True, found[1], seed)
            if code:
                said = f"the machine itself failed: {output.strip().splitlines()[-1:] or code}"
    return Verdict(fault.name, False, said)


def control(examples: int = CONTROL_EXAMPLES) -> Verdict:
    """The same without a fault: nothing may be found, and what runs must be the copy."""
    with Copy(None) as copy:
        foreign = copy.foreign_modules()
        if foreign:
            return Verdict("no fault", False, f"imported from elsewhere: {foreign}")
        code, output = copy.run_machine(examples, SEEDS[0])
    found = _FOUND.search(output)
    return Verdict("no fault", code == 0, found[1] if found else "" if code == 0 else output[-500:])


def hunt_all(faults: Sequence[Fault], examples: int, jobs: int) -> Iterator[Verdict]:
    """The verdict of each fault, as they come."""
    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(lambda fault: hunt(fault, examples), faults)


def main(arguments: Sequence[str] | None = None) -> int:
    """Hunt, and say what was found by which oracle; gives the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.machine.seeded", description="Hunt seeded faults.")
    parser.add_argument("names", nargs="*", help="faults or areas; all by default")
    parser.add_argument("--examples", type=int, default=EXAMPLES, help="how many examples each of the seeds has")
    parser.add_argument("--jobs", type=int, default=1, help="how many copies are hunted through at once")
    options = parser.parse_args(arguments)
    faults = [one for one in FAULTS if not options.names or {one.name, one.area} & set(options.names)]
    plain = control()
    if not plain.found:
        print(f"without any fault: {plain.said}")
        return 1
    missed = 0
    for verdict in hunt_all(faults, options.examples, options.jobs):
        missed += not verdict.found
        print(f"{'found' if verdict.found else 'MISSED':<7}{verdict.name:<38} {verdict.said[:140]}", flush=True)
    print(f"{len(faults) - missed} of {len(faults)} seeded faults found")
    return 1 if missed or not faults else 0


if __name__ == "__main__":
    sys.exit(main())
