"""Write the patches of all seeded faults anew, from the table and the files as they are now.

python -m tests.machine.seeded.make
"""

from __future__ import annotations

import sys

from tests.machine.seeded.fault import ROOT
from tests.machine.seeded.patches import FOLDER, patch_path, patch_text
from tests.machine.seeded.table import FAULTS


def main() -> int:
    """Write each patch, and take away those of faults that are gone; gives the exit code."""
    problems = []
    for fault in FAULTS:
        try:
            patch_path(fault).write_text(patch_text(fault, (ROOT / fault.path).read_text("utf-8")), "utf-8")
        except ValueError as error:
            problems.append(str(error))
    for left_over in set(FOLDER.glob("*.patch")) - {patch_path(fault) for fault in FAULTS}:
        left_over.unlink()
    print("\n".join(problems) or f"{len(FAULTS)} patches written")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
