"""Every patch applies to the code as it is, in one place, and is the fault of the table."""

from __future__ import annotations

import ast
import collections

import pytest

from tests.machine.seeded.fault import ROOT, Fault
from tests.machine.seeded.patches import FOLDER, PatchError, applied, patch_path, target_of
from tests.machine.seeded.table import AREAS, FAULTS

each_fault = pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])


@each_fault
def test_a_patch_applies_and_is_its_fault(fault: Fault) -> None:
    patch = patch_path(fault).read_text("utf-8")
    assert patch.startswith(f"{fault.says}\n")
    assert target_of(patch) == fault.path
    text = (ROOT / fault.path).read_text("utf-8")
    seeded = applied(patch, text)
    assert seeded == fault.seeded(text), "the place moved: python -m tests.machine.seeded.make"
    ast.parse(seeded)


@each_fault
def test_a_patch_stays_where_lines_are_added_above_it(fault: Fault) -> None:
    text = (ROOT / fault.path).read_text("utf-8")
    patch = patch_path(fault).read_text("utf-8")
    assert applied(patch, "# moved\n" * 40 + text) == "# moved\n" * 40 + applied(patch, text)


def test_each_area_has_faults_enough_and_no_patch_is_left_over() -> None:
    areas = collections.Counter(fault.area for fault in FAULTS)
    assert all(areas[area] >= 4 for area in AREAS)
    assert len(FAULTS) >= 24
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    assert {path.name for path in FOLDER.glob("*.patch")} == {patch_path(fault).name for fault in FAULTS}


def test_a_patch_that_does_not_fit_says_so() -> None:
    patch = patch_path(FAULTS[0]).read_text("utf-8")
    with pytest.raises(PatchError, match="are not there"):
        applied(patch, "something else\n")
    with pytest.raises(PatchError, match="names no file"):
        applied("no patch\n@@ -1 +1 @@\n-a\n+b\n", "something else\n")
    with pytest.raises(PatchError, match="no hunks"):
        applied("--- a/file\n", "something else\n")
