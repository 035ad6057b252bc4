"""Lets every test import the `checks` package of this checkout.

The root goes last on the path, not first: where hookagent is installed as a wheel, the tests must meet the wheel.
"""

import sys
from pathlib import Path

ROOT = str(Path(__file__).parent)
if ROOT not in sys.path:
    sys.path.append(ROOT)
