"""Compare the reference pages with the code, or write them anew.

    python -m checks.reference [--write]

Without `--write` it returns 1 if a page is not what the code makes of it.
"""

from __future__ import annotations

import sys

from checks.reference import stale_pages, write_pages


def main(arguments: list[str]) -> int:
    """Do what `arguments` say; return the exit code."""
    if arguments == ["--write"]:
        for name in write_pages():
            print(f"written: docs/reference/{name}")
        return 0
    if arguments:
        print("usage: python -m checks.reference [--write]", file=sys.stderr)
        return 2
    stale = stale_pages()
    for name in stale:
        print(f"docs/reference/{name}: is not what the code makes; run: python -m checks.reference --write")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
