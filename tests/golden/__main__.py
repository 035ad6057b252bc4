"""Compare the golden traces with what the product does now, or write them anew.

    python -m tests.golden [--write]

For maintainers, after a rule of the design has changed: `--write` makes every golden file from what is noted now, and
drops files that no scenario has. Read each changed line (`git diff tests/golden/traces`) against the rules before you
keep it: a golden file is what must happen, not what happened once. The page docs/reference/hook-traces.md is made from
the files (`python -m checks.reference --write`).
"""

from __future__ import annotations

import os
import sys
import tempfile


def main(arguments: list[str]) -> int:
    """Do what `arguments` say; return 1 if a file is not what is noted now, 2 for wrong arguments."""
    if arguments not in ([], ["--write"]):
        print("usage: python -m tests.golden [--write]", file=sys.stderr)
        return 2
    from tests.golden.files import FOLDER, path_of, performed, written
    from tests.golden.table import SCENARIOS

    stale = 0
    for scenario in SCENARIOS:
        path, text = path_of(scenario), written(scenario, performed(scenario))
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale += 1
        if arguments:
            path.write_text(text, encoding="utf-8")
        print(f"{'written' if arguments else 'not what is noted now'}: tests/golden/traces/{path.name}")
    for path in sorted(set(FOLDER.glob("*")) - set(map(path_of, SCENARIOS))):
        stale += 1
        if arguments:
            path.unlink()
        print(f"{'removed' if arguments else 'no scenario of that name'}: tests/golden/traces/{path.name}")
    return 1 if stale and not arguments else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        os.environ["HOOKAGENT_HOME"] = home
        code = main(sys.argv[1:])
    sys.exit(code)
