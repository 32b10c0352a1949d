# SPDX-License-Identifier: GPL-2.0-or-later
"""The page report.html: one self-contained file without dates and paths."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from s80lab.analysis.groups import Group
from s80lab.analysis.rows import ABSENT
from s80lab.base.terminal import counted
from s80lab.report.claims import TITLE as CLAIMS
from s80lab.report.claims import claims_tables
from s80lab.report.commands import commands_tables
from s80lab.report.figures.all import Picture
from s80lab.report.guest import guest_notes
from s80lab.report.headline import headline_table
from s80lab.report.tables import (
    Cell,
    Row,
    Table,
    comparison_note,
    measured_tables,
    miss_tables,
    replay_notes,
    run_table,
    verdicts,
)
from s80lab.report.transactions import transactions_table
from s80lab.results.metrics.derive import REGISTRY

TEMPLATES = Path(__file__).parent / "templates"

_LOAD = "Load and machine"
_OF_TRANSACTIONS = ("executed_mix", "latency")
# Topics of the page: title, the figures and the tables (by their titles) under it. A figure of none is a topic of its
# own, near the end.
_TOPICS: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("Headline", (), ("Headline",)),
    (
        "Sources of the L2 misses",
        ("miss_source",),
        ("Sources of the L2 misses", "L2 misses per 1000 instructions"),
    ),
    (
        "Fills of the L2 caches, and the fate of E blocks",
        ("e_state",),
        ("Fills of the L2 caches, and the fate of E blocks",),
    ),
    (CLAIMS, (), (CLAIMS,)),
    ("Bus traffic per 1000 instructions", (), ("Bus traffic per 1000 instructions",)),
    ("Cycles per instruction", ("cpi", "l2_stalls"), ("Cycles per instruction", "Cache miss rates")),
    ("Instructions", ("instruction_mix",), ("Instructions",)),
    (_LOAD, ("utilisation", "busy"), (_LOAD,)),
    ("Warm-up and runs", ("warm_up",), ("Runs",)),
)


@dataclass(frozen=True)
class Topic:
    title: str
    pictures: list[Picture]
    tables: list[Table]
    text: str = ""


def page(title: str, groups: Sequence[Group], pictures: Sequence[Picture]) -> str:
    """The whole page as text."""
    return render(
        title,
        _lead(groups),
        verdicts=verdicts(groups),
        notes=[*guest_notes(groups), comparison_note(groups), *replay_notes(groups)],
        topics=_topics(groups, pictures),
        origins=[origins(group, kind) for group in groups for kind in ("inputs", "versions")],
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
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.filters["prose"] = prose
    return environment.get_template("report.html.j2").render(
        title=title,
        lead=lead,
        style=(TEMPLATES / "style.css").read_text(encoding="utf-8"),
        verdicts=verdicts,
        notes=notes,
        topics=topics,
        origins=origins,
        metrics=list(REGISTRY.values()),
    )


def prose(text: str) -> Markup:
    """Text for HTML; what is in backticks becomes code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _topics(groups: Sequence[Group], pictures: Sequence[Picture]) -> list[Topic]:
    drawn = {picture.name: picture for picture in pictures}
    whole = [headline_table(groups), *measured_tables(groups), *claims_tables(groups), run_table(groups)]
    tables = {table.title: table for table in whole}
    topics = [
        Topic(title, [drawn[name] for name in figures], [tables[name] for name in of_topic if name in tables])
        for title, figures, of_topic in _TOPICS
        if figures or any(name in tables for name in of_topic)
    ]
    placed = {name for _, figures, _ in _TOPICS for name in figures} | set(_OF_TRANSACTIONS)
    topics += [Topic(picture.title, [picture], []) for name, picture in drawn.items() if name not in placed]
    topics += miss_topics(groups)
    loaded = [group for group in groups if not group.replayed]
    if not loaded:
        return topics
    transactions = Topic(
        "Transactions",
        [drawn[name] for name in _OF_TRANSACTIONS],
        [*(transactions_table(group) for group in loaded), *commands_tables(loaded)],
    )
    before = next((place for place, topic in enumerate(topics) if topic.title == _LOAD), len(topics))
    return [*topics[:before], transactions, *topics[before:]]


def miss_topics(groups: Sequence[Group]) -> list[Topic]:
    """The attributed misses of each group's first run with a log of misses."""
    found = [(group, run) for group in groups for run in group.runs if run.misses]
    firsts = {group.label: (group, run) for group, run in reversed(found)}
    return [
        Topic(f"Attributed misses: {label}, seed {run.manifest['seed']}", [], miss_tables(run.misses))
        for label, (_, run) in sorted(firsts.items())
    ]


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
    return (
        f"Machine {manifest['machine']}, protocol {manifest['protocol']}, engine {manifest['engine']}"
        f"{scale};{clients} {counted(runs, 'run')}. All times are simulated time, the time of the modelled machine."
    )


def origins(group: Group, kind: str) -> Table:
    """Hashes of inputs, or versions of programs; several values if the runs of the group differ."""
    table = Table(f"{kind.capitalize()} of {group.label}", ("SHA-256" if kind == "inputs" else "version",))
    for name in sorted({name for run in group.runs for name in run.manifest[kind]}):
        values = dict.fromkeys(str(run.manifest[kind].get(name, ABSENT)) for run in group.runs)
        table.rows.append(Row(name, (Cell(", ".join(values)),)))
    return table
