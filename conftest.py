"""Lets every test import the `checks` package of this checkout, and keeps sessions out of the user's own folder.

The root goes last on the path, not first: where hookagent is installed as a wheel, the tests must meet the wheel.
"""

import os
import sys
import tempfile
from pathlib import Path

ROOT = str(Path(__file__).parent)
if ROOT not in sys.path:
    sys.path.append(ROOT)

# One home for all that tests leave behind, their sub-processes included; it goes with the process.
_HOME = tempfile.TemporaryDirectory(prefix="hookagent-tests-", ignore_cleanup_errors=True)
os.environ["HOOKAGENT_HOME"] = _HOME.name
