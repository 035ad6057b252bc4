"""`python -m hookagent`: the same as the command `hookagent`."""

import sys

from hookagent.cli import main

if __name__ == "__main__":  # pragma: no branch - it is there to be run, and nothing imports it
    sys.exit(main())
