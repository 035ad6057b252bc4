"""Links between pages lead somewhere: the file exists, and so does the heading. Nothing is asked of the network."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, pages, prose

PLUGIN_PAGES = sorted((ROOT / "plugins").glob("*/README.md"))
_LINK = re.compile(r"(?<!!)\[(?:[^\[\]]|\[[^\]]*\])*\]\((?P<target>[^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6}\s+(?P<text>.+?)\s*#*$", re.MULTILINE)
_MACHINE = re.compile(r"/(?:work|opt|tmp|root)/|\blocalhost:\d{5}\b")


def anchors(text: str) -> set[str]:
    """The anchors that a forge makes of the headings of a page."""
    found: set[str] = set()
    for heading in _HEADING.finditer(prose(text)):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading["text"]).lower()
        slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        number, unique = 0, slug
        while unique in found:
            number += 1
            unique = f"{slug}-{number}"
        found.add(unique)
    return found


def links(page: Path) -> list[str]:
    return [found["target"] for found in _LINK.finditer(prose(page.read_text(encoding="utf-8")))]


def test_anchors_are_made_as_a_forge_makes_them() -> None:
    text = "# The `run` command, in short\n## One\n## One\n```\n# no heading\n```\n"

    assert anchors(text) == {"the-run-command-in-short", "one", "one-1"}


@pytest.mark.parametrize("page", [*pages(), *PLUGIN_PAGES], ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    broken = []
    for target in links(page):
        if re.match(r"https?://|mailto:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists():
            broken.append(f"{target}: there is no such file")
        elif anchor and anchor not in anchors(file.read_text(encoding="utf-8")):
            broken.append(f"{target}: there is no such heading")

    assert broken == []


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page not in reached and page.suffix == ".md":
            reached.add(page)
            targets = (target.partition("#")[0] for target in links(page) if "://" not in target)
            waiting += [(page.parent / target).resolve() for target in targets if target]

    assert [str(page.relative_to(ROOT)) for page in pages() if page not in reached] == []


@pytest.mark.parametrize("page", [*pages(), *PLUGIN_PAGES], ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_shows_a_path_of_somebodys_machine(page: Path) -> None:
    assert _MACHINE.findall(page.read_text(encoding="utf-8")) == []
