"""The command `hookagent`: the only part that imports click, each sub-command loaded when it is called."""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code (design, "Exit codes"). Prints; raises nothing.

    `arguments` are the words behind the program's name; default: those of the process.
    """
    import sys

    try:
        from hookagent.cli.failure import run_guarded
        from hookagent.cli.group import root_command
    except KeyboardInterrupt:
        # Nothing of ours is loaded that could say it.
        if sys.stderr is not None:
            sys.stderr.write("hookagent: interrupted\n")
        return 130
    return run_guarded(root_command(), list(sys.argv[1:] if arguments is None else arguments))
