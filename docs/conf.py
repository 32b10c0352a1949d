# SPDX-License-Identifier: GPL-2.0-or-later
"""The site that `make docs` builds. Its source folder is the whole checkout: links that work there work here too."""

import posixpath
import re
import shutil
from pathlib import Path

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx

from s80lab import __version__
from s80lab.base import paths
from s80lab.commands.line.app import app as commands
from s80lab.commands.manual import markdown
from s80lab.commands.pages import protocol_pages, write_pages
from s80lab.report.figures.all import FIGURES
from s80lab.results.reference import result_names, unpacked

CONTENTS = Path(__file__).parent / "site" / "contents.md"
# How documents name the page of a reference result: by the command that writes the page, or by its path.
PAGE = re.compile(r"s80lab reference show (?P<result>\S+)|build/(?P<page>reference/\S+\.html)")
# How documents name the page of a protocol.
PROTOCOL = re.compile(r"s80lab protocol show (\S+)")

project = html_title = "s80lab"
release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
root_doc = "README"
include_patterns = [
    *("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"),
    *("docs/*.md", "docs/tutorial/**.md", "docs/guides/*.md", "docs/reference/**.md", "docs/background/**.md"),
    *(f"{folder}/README.md" for folder in ("captures", "checkpoints", "configs", "disk-images", "examples")),
    *(f"{folder}/README.md" for folder in ("scripts", "studies", "workloads")),
    *("results/README.md", "results/paper/README.md", "results/reference/*.md"),
    *("results/reference/buildroot/*.md", "results/reference/gem5/**.md", "build/protocols/*.md"),
]
# What is large and has no pages is not even looked through.
exclude_patterns = [".git", "captures/*/", "checkpoints/*/", "results/reports", "results/runs"]
protocols = protocol_pages()
exclude_patterns += [f"build/{entry.name}" for entry in paths.BUILD.iterdir() if entry != protocols]

# `--until` without its backticks is an option still, no dash.
smartquotes = False
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3

default_role = "code"  # of the docstrings
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True

html_theme = "furo"
html_theme_options = {"top_of_page_buttons": []}
html_static_path = ["site/site.css"]
html_css_files = ["site.css"]
html_copy_source = html_show_copyright = html_use_index = False


def complete(app: Sphinx, docname: str, source: list[str]) -> None:
    """What two pages have on the site alone: the front page all others, the page of commands the commands."""
    if docname == root_doc:
        source[0] += CONTENTS.read_text(encoding="utf-8")
    elif docname == "docs/reference/commands":
        source[0] += markdown(commands, "s80lab")


def unlink_folders(app: Sphinx, document: nodes.document) -> None:
    """Links to folders, which a site has not: the folder's README where that is a page, else the bare name.

    Links to pages and to other files are MyST's already; it copies the file.
    """
    links = [link for link in document.findall(pending_xref) if link["reftype"] == "myst" and not link["refdomain"]]
    for link in links:
        folder = Path(app.env.relfn2path(link["reftarget"], link["refdoc"])[1])
        if folder.is_dir():
            page = app.env.path2doc(folder / "README.md")
            if page in app.env.found_docs:
                link["refdomain"], link["reftarget"], link["reftargetid"] = "doc", page, None
            else:
                link.replace_self(link.children)


def published_page(app: Sphinx, text: str) -> str | None:
    """The page on the site of the reference result or protocol that the text names, or None."""
    if found := PROTOCOL.fullmatch(text):
        page = f"build/protocols/{found[1]}"
        return f"{page}.html" if page in app.env.found_docs else None
    if found := PAGE.fullmatch(text):
        page = found["page"] or f"reference/{found['result']}/report.html"
        return page if (Path(app.outdir) / page).is_file() else None
    return None


def link_pages(app: Sphinx, document: nodes.document) -> None:
    """A page of a reference result or of a protocol is not in git, but on the site: what names the page is a link
    there."""
    here = posixpath.dirname(app.env.docname) or "."
    for literal in list(document.findall(nodes.literal)):
        if page := published_page(app, literal.astext()):
            literal.replace_self(nodes.reference("", "", literal.deepcopy(), refuri=posixpath.relpath(page, here)))


def publish_pages(app: Sphinx) -> None:
    """The pages of all reference results, with their figures, below reference/."""
    for name in result_names():
        for page in write_pages(name):
            if page.suffix == ".html":
                target = Path(app.outdir) / "reference" / name / page.parent.relative_to(unpacked(name))
                target.mkdir(parents=True, exist_ok=True)
                shutil.copy(page, target)
                if (page.parent / FIGURES).is_dir():
                    shutil.copytree(page.parent / FIGURES, target / FIGURES, dirs_exist_ok=True)


def link_images(app: Sphinx, document: nodes.document) -> None:
    """Wide diagrams are small print on a page: Sphinx links an image that has a width to itself in full."""
    for image in document.findall(nodes.image):
        image["width"] = "100%"


def name_front_page(app: Sphinx, error: Exception | None) -> None:
    """The front page also under the name that servers look for, in the same folder, where its links hold."""
    if error is None:
        shutil.copy(app.outdir / f"{root_doc}.html", app.outdir / "index.html")


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", publish_pages)
    app.connect("source-read", complete)
    app.connect("doctree-read", unlink_folders)
    app.connect("doctree-read", link_pages)
    app.connect("doctree-read", link_images)
    app.connect("build-finished", name_front_page)
