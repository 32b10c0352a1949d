# SPDX-License-Identifier: GPL-2.0-or-later
"""The page report.html: one self-contained file without dates and paths, and its figures as files."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from s80lab.analysis.groups import Group
from s80lab.base.files import write_file
from s80lab.base.format import ABSENT
from s80lab.base.terminal import counted
from s80lab.report.contents import contents
from s80lab.report.figures.all import FIGURES, Picture
from s80lab.report.figures.style import standalone
from s80lab.report.guest import guests_of_page
from s80lab.report.summary import changed_values, valid_groups
from s80lab.report.tables import Cell, Row, Table, comparison_note, replay_notes
from s80lab.report.validity import verdicts
from s80lab.results.metrics.derive import REGISTRY
from s80lab.results.run_folder import REPORT

TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Topic:
    """A section of a page.

    key: the target of links to it; made from the title if it is empty.
    html: what the section shows below its text, for example a table that the reader can sort.
    container: the id of the element around figures and tables, for a script that replaces them; empty for no element.
    script: HTML after figures and tables.
    """

    title: str
    pictures: list[Picture]
    tables: list[Table]
    text: str = ""
    key: str = ""
    tables_first: bool = False
    html: Markup | None = None
    container: str = ""
    script: str = ""

    @property
    def anchor(self) -> str:
        return self.key or anchor_of(self.title)


def page(title: str, groups: Sequence[Group], pictures: Sequence[Picture]) -> str:
    """The whole page as text."""
    guests, tables = guests_of_page(groups)
    return render(
        title,
        _lead(groups),
        verdicts=verdicts(groups),
        notes=[*guests, comparison_note(groups), *replay_notes(groups)],
        topics=_topics(groups, pictures),
        origins=[*tables, *(origins(group, kind) for group in groups for kind in ("inputs", "versions"))],
    )


def render(
    title: str,
    lead: str,
    *,
    verdicts: Sequence[tuple[str, str]],
    notes: Sequence[str],
    topics: Sequence[Topic],
    origins: Sequence[Table],
) -> str:
    """A page from these parts. verdicts: invalid runs with reasons; origins: tables of hashes and versions."""
    return template("report.html.j2", csv_link=csv_link).render(
        title=title,
        lead=lead,
        style=(TEMPLATES / "style.css").read_text(encoding="utf-8"),
        verdicts=verdicts,
        notes=notes,
        topics=topics,
        origins=origins,
        metrics=list(REGISTRY.values()),
    )


def template(name: str, compact: bool = False, **filters: Callable[..., object]) -> Template:
    """A template of HTML. compact: lines with statements alone and the last line feed leave no trace. filters: besides
    `prose`."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        keep_trailing_newline=not compact,
        trim_blocks=compact,
        lstrip_blocks=compact,
    )
    environment.filters.update(filters, prose=prose)
    return environment.get_template(name)


def csv_link(table: Table) -> Markup:
    """A link that saves the table as CSV. The link holds the file, so that the page needs no other file."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["", *table.columns])
    writer.writerows([row.label, *(cell.text for cell in row.cells)] for row in table.rows)
    name = f"{anchor_of(table.title)}.csv"
    return Markup('<a class="csv" download="{}" href="data:text/csv;charset=utf-8,{}">CSV</a>').format(
        name, quote(text.getvalue(), safe=",")
    )


def anchor_of(title: str) -> str:
    """A title as a part of a link."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def prose(text: str) -> Markup:
    """Text for HTML; what is in backticks becomes code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _topics(groups: Sequence[Group], pictures: Sequence[Picture]) -> list[Topic]:
    """The sections that have a figure or a table."""
    drawn = {picture.name: picture for picture in pictures}
    found = (
        Topic(
            section.title,
            [
                *(drawn[name] for name in section.figures if name in drawn),
                *(picture for picture in pictures if picture.section == section.key),
            ],
            section.tables_of(groups),
            key=section.key,
            tables_first=section.key == "headline",
        )
        for section in contents()
    )
    return [topic for topic in found if topic.pictures or topic.tables]


def _clients(load: Mapping[str, Any]) -> str:
    if load["driver"] == "scripts":
        return "{clients} clients that run scripts".format(**load)
    return "{clients} clients with a mean think time of {think_ms:g} ms".format(**load)


def _lead(groups: Sequence[Group]) -> str:
    first = groups[0].runs[0]
    manifest = first.manifest
    runs = sum(len(group.runs) for group in groups)
    clients = "" if first.result is None else f" {_clients(first.load)},"
    scale = "" if groups[0].imported else f", scale {manifest['scale']}"
    run = (
        f"Machine {manifest['machine']}, protocol {manifest['protocol']}, engine {manifest['engine']}"
        f"{scale};{clients} {counted(runs, 'run')}."
    )
    time = "All times are simulated time, the time of the modelled machine."
    return " ".join([*valid_groups(groups), run, *changed_values(groups), time])


def origins(group: Group, kind: str) -> Table:
    """Hashes of inputs, or versions of programs; several values if the runs of the group differ."""
    table = Table(f"{kind.capitalize()} of {group.label}", ("SHA-256" if kind == "inputs" else "version",))
    for name in sorted({name for run in group.runs for name in run.manifest[kind]}):
        values = dict.fromkeys(str(run.manifest[kind].get(name, ABSENT)) for run in group.runs)
        table.rows.append(Row(name, (Cell(", ".join(values)),)))
    return table


def write_files(folder: Path, page: str, pictures: Iterable[Picture], pngs: Mapping[str, bytes] | None = None) -> Path:
    """Writes page (HTML) to report.html, each picture to figures/NAME.svg and each of `pngs` to figures/NAME.png.
    Creates the folder if it does not exist. Returns the page's path. UserError if a file cannot be written."""
    figures = folder / FIGURES
    for picture in pictures:
        write_file(figures / f"{picture.name}.svg", standalone(picture.svg))
    for name, png in (pngs or {}).items():
        write_file(figures / f"{name}.png", png)
    target = folder / REPORT
    write_file(target, page)
    return target
