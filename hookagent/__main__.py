"""`python -m hookagent`: the same as the command `hookagent`."""

import sys

from hookagent.cli import main

if __name__ == "__main__":
    sys.exit(main())
