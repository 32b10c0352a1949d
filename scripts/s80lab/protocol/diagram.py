# SPDX-License-Identifier: GPL-2.0-or-later
"""State diagrams of protocols: graphviz text from the table, drawn as SVG by `dot`."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from s80lab.base.errors import UserError
from s80lab.base.files import whole
from s80lab.base.hashing import text_hash
from s80lab.base.vocabulary import texts
from s80lab.protocol.table import ACCESSES, BUS, Protocol

# Fill and border by what a state counts as in the statistics.
COLOURS = {
    "M": ("#f6c9bd", "#a8442a"),
    "O": ("#fbe0b0", "#9c6a10"),
    "E": ("#c9dcf5", "#2b5c9e"),
    "S": ("#cfe8cf", "#2f7a3b"),
    None: ("#eeeeee", "#777777"),
}
OWN_EDGE = 'color="#222222", fontcolor="#222222"'
REMOTE_EDGE = 'color="#6a4c93", fontcolor="#6a4c93", style=dashed'
FONT = "Helvetica"


@dataclass(frozen=True)
class Move:
    """One transition: an event that leads from one state to another. `action`: the request or reaction it causes."""

    start: str
    end: str
    remote: bool
    event: str
    action: str


def diagram(protocol: Protocol) -> str:
    """The graph in dot's language, without hits that change no state and send no request.

    Permissions decrease from top to bottom. Edges that increase permissions (to a writable state, or from the invalid
    state at the bottom) do not affect the ranking.
    """
    lines = [
        f'digraph "{protocol.name}" {{',
        f'  graph [nodesep=0.5, ranksep=0.9, labelloc=b, fontname="{FONT}", fontsize=11, label=<{_legend(protocol)}>];',
        f'  node [shape=circle, width=0.75, fixedsize=true, style=filled, penwidth=1.6, fontname="{FONT}"];',
        f'  edge [fontname="{FONT}", fontsize=11, arrowsize=0.7];',
        f"  {{ rank=min; {' '.join(n for n, state in protocol.states.items() if state.writable)} }}",
        f"  {{ rank=max; {protocol.invalid} }}",
    ]
    for name, state in protocol.states.items():
        fill, border = COLOURS[state.counts_as]
        shape = ", shape=doublecircle, width=0.62" if state.writable else ""
        lines.append(f'  {name} [fillcolor="{fill}", color="{border}"{shape}];')
    for (start, end, remote), labels in _edges(protocol).items():
        text = "".join(f" {label}\\l" for label in labels)
        raises = ", constraint=false" if start == protocol.invalid or protocol.states[end].writable else ""
        lines.append(f'  {start} -> {end} [label="{text}", {REMOTE_EDGE if remote else OWN_EDGE}{raises}];')
    return "\n".join([*lines, "}"]) + "\n"


# Fill and border of a home state: clean data, dirty data, no data.
HOME_COLOURS = {"clean": ("#c9dcf5", "#2b5c9e"), "dirty": ("#f6c9bd", "#a8442a"), "none": ("#eeeeee", "#777777")}


def home_diagram(protocol: Protocol) -> str:
    """The graph of the home's states in dot's language, without events that change no state."""
    home = protocol.home
    assert home is not None
    lines = [
        f'digraph "{protocol.name}-home" {{',
        f'  graph [nodesep=0.5, ranksep=0.9, labelloc=b, fontname="{FONT}", fontsize=11, label=<{_home_legend()}>];',
        f'  node [shape=box, style="filled,rounded", penwidth=1.6, fontname="{FONT}"];',
        f'  edge [fontname="{FONT}", fontsize=11, arrowsize=0.7];',
        f"  {{ rank=min; {home.absent} }}",
    ]
    for name, state in home.states.items():
        fill, border = HOME_COLOURS[("dirty" if state.dirty else "clean") if state.data else "none"]
        sides = {"none": 1, "one": 1, "any": 2}[state.copies]
        text = name if state.copies == "none" else f"{name}\\n{state.copies}"
        lines.append(f'  {name} [label="{text}", fillcolor="{fill}", color="{border}", peripheries={sides}];')
    edges: dict[tuple[str, str, bool], list[str]] = {}
    for row, cells in home.rows():
        event = row.removeprefix("home.").replace(".", " ")
        loss = not row.startswith(("home.read", "home.fetch", "home.rfo", "home.upgrade"))
        for start, cell in cells.items():
            for key, end in cell.ends():
                label = event if key == "next" else f"{event}, {key}"
                if end != start:
                    edges.setdefault((start, end, loss), []).append(label)
    for (start, end, loss), labels in edges.items():
        text = "".join(f" {label}\\l" for label in labels)
        lines.append(f'  {start} -> {end} [label="{text}", {REMOTE_EDGE if loss else OWN_EDGE}];')
    return "\n".join([*lines, "}"]) + "\n"


def _home_legend() -> str:
    names = {"clean": "clean data", "dirty": "dirty data", "none": "no data"}
    return _legend_of(
        {name: HOME_COLOURS[one][0] for one, name in names.items()},
        "solid: a request of a core; one, any: the private copies that may exist",
        '<font color="#6a4c93">dashed: a private copy, a way or an entry goes</font>',
    )


def _legend_of(colours: Mapping[str, str], *sentences: str) -> str:
    """A legend: the sentences, and below them a coloured box with each name."""
    boxes = "".join(f'<td bgcolor="{colour}"> {name} </td>' for name, colour in colours.items())
    rows = (*sentences, f'<table border="0" cellspacing="4"><tr>{boxes}</tr></table>')
    return '<table border="0">' + "".join(f"<tr><td>{row}</td></tr>" for row in rows) + "</table>"


def draw(graph: str) -> str:
    """The SVG of a graph, with the hash of its graph in a comment. UserError if graphviz is missing."""
    dot = shutil.which("dot")
    if dot is None:
        raise UserError("dot, which draws state diagrams, is not on PATH: install the Debian package graphviz")
    done = subprocess.run([dot, "-Tsvg"], input=graph, capture_output=True, text=True)
    if done.returncode:
        raise UserError(f"dot failed: {done.stderr.strip().splitlines()[0]}")
    # dot states the font at each label, repeats titles as comments, and gives hundredths of a point.
    font = f' font-family="{FONT},sans-Serif"'
    svg = re.sub(r"<!--.*?-->\n", "", done.stdout, flags=re.DOTALL).replace(font, "").replace(' font-size="11.00"', "")
    svg = re.sub(r"(\d\.\d)\d", r"\1", svg)
    head, _, body = svg.replace(' class="graph"', f'{font} font-size="11"', 1).partition("<svg")
    return f"{head}<!-- SPDX-License-Identifier: GPL-2.0-or-later -->\n{mark(graph)}\n<svg{body}"


def mark(graph: str) -> str:
    """A comment that identifies the graph of an SVG. The SVG itself differs between versions of dot."""
    return f"<!-- graph {text_hash(graph)} -->"


def write_svg(protocol: Protocol, file: Path) -> None:
    """Draws into `file`. An error leaves an existing file unchanged."""
    with whole(file) as partial:
        partial.write_text(draw(diagram(protocol)), encoding="utf-8")


def _edges(protocol: Protocol) -> dict[tuple[str, str, bool], list[str]]:
    """The labels of each edge: `load, fetch / read`. Events with equal actions share a label."""
    grouped: dict[tuple[str, str, bool], dict[str, list[str]]] = {}
    for move in [*_own(protocol), *_evictions(protocol), *_remote(protocol)]:
        if move.start != move.end or move.action:
            events = grouped.setdefault((move.start, move.end, move.remote), {}).setdefault(move.action, [])
            events.append(move.event)
    return {
        edge: [", ".join(events) + (f" / {action}" if action else "") for action, events in actions.items()]
        for edge, actions in grouped.items()
    }


def _own(protocol: Protocol) -> Iterator[Move]:
    for event in ACCESSES:
        for name, cell in protocol.access_row(event).items():
            if not cell.possible:
                continue
            if cell.bus is None or cell.next:
                yield Move(name, cell.when_alone, False, event, cell.bus or "")
            else:
                yield Move(name, cell.when_alone, False, event, f"{cell.bus}, alone")
                yield Move(name, cell.when_shared, False, event, f"{cell.bus}, shared")
            if cell.bus:
                for supplier, remote in protocol.remote_row(cell.bus).items():
                    if remote.gives:
                        yield Move(name, remote.gives, False, event, f"{cell.bus}, handed over by {supplier}")


def _evictions(protocol: Protocol) -> Iterator[Move]:
    for name, cell in protocol.own.evict.items():
        if cell.possible:
            yield Move(name, protocol.invalid, False, "evict", "writeback" if cell.writeback else "")


def _remote(protocol: Protocol) -> Iterator[Move]:
    for bus in BUS:
        for name in protocol.present:
            cell = protocol.remote_row(bus)[name]
            if cell.possible:
                does = [word for word, done in (("supply", cell.supply), ("writeback", cell.writeback)) if done]
                yield Move(name, cell.after, True, bus, " + ".join(does))
    for name in protocol.present:
        recalled = (protocol.remote.recall or {}).get(name)
        if recalled is not None and recalled.possible:
            yield Move(name, recalled.after, True, "recall", "writeback" if recalled.writeback else "")


def _legend(protocol: Protocol) -> str:
    names = texts("state")
    used = {state.counts_as for state in protocol.states.values()}
    return _legend_of(
        {names[one] if one else "invalid": COLOURS[one][0] for one in (*names, None) if one in used},
        "solid: event of the own core / bus request",
        '<font color="#6a4c93">dashed: snooped request of another core / reaction</font>',
        "double circle: writable, the L1 absorbs stores; hits without a state change or request are not drawn",
    )
