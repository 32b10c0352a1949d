# SPDX-License-Identifier: GPL-2.0-or-later
"""The site of `make docs`: whole, the same each time, and to be read without a network."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from tests.lab import LIMIT_S
from typer.core import TyperGroup
from typer.main import get_command

from s80lab.base import paths
from s80lab.commands.line.app import app
from s80lab.commands.pages import protocol_pages

# What a browser fetches by itself; where a link leads is the reader's to choose.
FETCHED = {"script", "link", "img", "source", "iframe", "embed", "object"}
OUTSIDE = re.compile(r"""(?:@import|url\()\s*["']?(?:https?:)?//""")


def build(target: Path) -> Path:
    """As the Makefile does it; a warning is an error."""
    words = ["--quiet", "--fail-on-warning", "--keep-going", "--fresh-env", "-c", "docs"]
    command = [sys.executable, "-m", "sphinx", *words, "-d", str(target / "doctrees"), ".", str(target / "site")]
    done = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stdout + done.stderr
    return target / "site"


@dataclass
class Page(HTMLParser):
    """What a page refers to, and its own text alone; what can be referred to in it; all its text."""

    file: Path
    references: list[tuple[str, str]] = field(default_factory=list)
    own: list[str] = field(default_factory=list)
    inside: bool = False
    ids: set[str] = field(default_factory=set)
    text: str = ""

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.inside |= tag == "article"
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.references.append((tag, value))
                self.own += [value] if self.inside else []
            elif name == "id" and value:
                self.ids.add(value)

    def handle_endtag(self, tag: str) -> None:
        self.inside &= tag != "article"

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("docs"))


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    """All that Sphinx has made; the reports that it has copied have tests of their own."""
    files = [file for file in site.rglob("*.html") if "_downloads" not in file.parts]
    return {file: Page(file) for file in files}


def words(command: Any, name: str) -> Iterator[str]:
    """How each command is called, and the help of what it takes, as a page shows them."""
    yield f"{name} [OPTIONS]"
    yield from (" ".join(part.help.replace("`", "").split()) for part in (command, *command.params) if part.help)
    for part in command.commands.values() if isinstance(command, TyperGroup) else ():
        yield from words(part, f"{name} {part.name}")


def test_documents_have_pages_with_their_links(site: Path, pages: dict[Path, Page]) -> None:
    names = [file.relative_to(paths.ROOT) for file in (paths.ROOT / "docs").rglob("*.md") if file.parent.name != "site"]
    assert len(names) > 20
    for name in (*names, *map(Path, ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "results/README.md"))):
        text = (paths.ROOT / name).read_text(encoding="utf-8")
        wanted = {f"{link}.html" for link in re.findall(r"\]\(([\w./-]+)\.md[#)]", text)}
        assert wanted - {link.split("#")[0] for link in pages[site / name.with_suffix(".html")].own} == set(), name


def test_folders_are_their_readme_or_plain(site: Path, pages: dict[Path, Page]) -> None:
    assert "../../results/reference/gem5/README.html" in pages[site / "docs" / "background" / "engines.html"].own
    assert not any(link.endswith("configs/gem5") for link in pages[site / "docs" / "reference" / "gem5.html"].own)


def test_front_page_is_the_readme(site: Path, pages: dict[Path, Page]) -> None:
    headings = re.findall(r"^##? (.*)$", (paths.ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    front = pages[site / "index.html"]
    assert f"<h1>{headings[0]}<" in front.file.read_text(encoding="utf-8")
    assert [heading for heading in headings if heading not in front.text] == []


def test_commands_page_lists_all_commands(site: Path, pages: dict[Path, Page]) -> None:
    text = " ".join(pages[site / "docs" / "reference" / "commands.html"].text.split())
    wanted = list(words(get_command(app), "s80lab"))
    assert "s80lab trace step [OPTIONS]" in wanted
    assert [part for part in wanted if part not in text] == []


def test_diagrams_are_shown_and_lead_to_themselves_in_full(site: Path, pages: dict[Path, Page]) -> None:
    diagrams = list(protocol_pages().glob("*.svg"))
    assert len(diagrams) > 12
    for diagram in diagrams:
        page = pages[site / "build" / "protocols" / f"{diagram.stem.removesuffix('-home')}.html"]
        assert {(tag, f"../../_images/{diagram.name}") for tag in ("a", "img")} <= set(page.references)


def test_command_that_shows_a_protocol_leads_to_its_page(pages: dict[Path, Page], site: Path) -> None:
    assert "../../build/protocols/mesi.html" in pages[site / "docs" / "reference" / "protocols.html"].own


def test_pages_fetch_no_external_resources(site: Path, pages: dict[Path, Page]) -> None:
    for page in pages.values():
        fetched = [link for tag, link in page.references if tag in FETCHED]
        assert [link for link in fetched if urlsplit(link).netloc] == []
    assert [file for file in (*site.rglob("*.css"), *pages) if OUTSIDE.search(file.read_text(encoding="utf-8"))] == []


def test_page_references_all_resolve(pages: dict[Path, Page]) -> None:
    broken = []
    for page in pages.values():
        for _, link in page.references:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.file.parent / unquote(parts.path)).resolve() if parts.path else page.file
            # "#" alone and the anchors of other kinds of file are the browser's.
            lacks_anchor = parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids
            if not target.is_file() or lacks_anchor:
                broken.append(f"{page.file.name}: {link}")
    assert broken == []


def test_pages_do_not_contain_the_checkout_path(pages: dict[Path, Page]) -> None:
    checkout = re.compile(rf"(?<![\w./-]){re.escape(str(paths.ROOT))}\b")
    assert [file for file in pages if checkout.search(file.read_text(encoding="utf-8"))] == []


def test_pages_have_equal_bytes_when_built_again(site: Path, tmp_path: Path) -> None:
    again = build(tmp_path)
    first, second = (
        {file.relative_to(root): file.read_bytes() for file in root.rglob("*") if file.is_file()}
        for root in (site, again)
    )
    assert first.keys() == second.keys()
    assert [name for name, content in first.items() if second[name] != content] == []
