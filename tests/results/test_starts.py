# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of docs/background/sharing.md agree with the runs in results/reference/starts.tsv."""

from __future__ import annotations

import re
from functools import cache

import pytest
from tests.results.designs import starts

from s80lab.analysis.interval import estimate
from s80lab.base import paths

# Column of the table: the metric, and the factor to the unit of the table.
COLUMNS = {
    "memory": ("miss_source.all.memory", 100.0),
    "M": ("miss_source.all.M", 100.0),
    "O": ("miss_source.all.O", 100.0),
    "E": ("miss_source.all.E", 100.0),
    "S": ("miss_source.all.S", 100.0),
    "memory, sessions": ("miss_source_of.session.all.memory", 100.0),
    "E share": ("e_share", 100.0),
    "E to M": ("e_to_m_share", 100.0),
    "misses / 1000": ("l2_mpki.all", 1.0),
    "L2 miss rate": ("l2_miss_rate.all", 100.0),
    "kernel": ("kernel_share.cycles", 100.0),
    "utilisation": ("utilisation", 100.0),
    "transactions / s": ("throughput", 1.0),
}
# Row of the table: workload and server.
ROWS = {
    "imapb": ("imapb", "dovecot"),
    "imape": ("imape", "dovecot"),
    "`pop3`, for SPECmail": ("pop3", "dovecot-pop3"),
    "`web`, for SPECweb_SSL": ("web", "apache"),
    "`web`, pages made in the process": ("web", "apache-lua"),
    "`jbb`, for SPECjbb": ("jbb", "jbb"),
    "dovecot (mbox, no index files)": ("imapb", "dovecot"),
    "courier (maildir)": ("imapb", "courier"),
    "uw (mbox)": ("imapb", "uw"),
    **{name: ("imapb", name) for name in ("dovecot-index", "dovecot-maildir", "dovecot-maildir-index")},
    "cyrus (one file per message, indexes)": ("imapb", "cyrus"),
    **{name: ("imapb", name) for name in ("dovecot-sdbox", "dovecot-mdbox")},
}


@cache
def tables() -> dict[tuple[str, str], dict[str, str]]:
    """The cells by heading of each row that states its number of runs; the two tables have no row in common."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    heads: list[str] = []
    for line in (paths.ROOT / "docs" / "background" / "sharing.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")] if line.startswith("| ") else []
        heads = cells if cells[1:2] == ["runs"] else heads if cells else []
        label = cells[0].removeprefix("| ") if cells else ""
        if heads and label in ROWS:
            found[label, heads[-1]] = dict(zip(heads[1:], cells[1:], strict=True))
    return found


def test_sharing_tables_have_all_rows() -> None:
    assert {label for label, _ in tables()} == set(ROWS)


@pytest.mark.parametrize("label", sorted(ROWS))
def test_sharing_table_row_is_the_mean_of_its_replications(label: str) -> None:
    of = starts()[ROWS[label]]
    (cells,) = [cells for (row, _), cells in tables().items() if row == label]
    assert int(cells.pop("runs")) == len(of) >= 3
    assert len({(start["initramfs"], start["boot"], start["seed"]) for start in of}) == len(of)
    for head, cell in cells.items():
        metric, unit = COLUMNS[head]
        found = estimate([unit * float(start[metric]) for start in of])
        assert found is not None and found.half_width is not None
        text = re.fullmatch(r"([\d.]+)(?: ± ([\d.]+))?%?", cell)
        assert text, cell
        digits = len(text[1].partition(".")[2])
        assert text[1] == f"{found.mean:.{digits}f}", head
        assert text[2] in (None, f"{found.half_width:.{digits}f}"), head


@pytest.mark.parametrize("label", sorted(ROWS))
def test_headline_shares_have_half_widths_below_five_points(label: str) -> None:
    for metric in ("miss_source.all.memory", "e_share", "e_to_m_share"):
        found = estimate([100.0 * float(start[metric]) for start in starts()[ROWS[label]]])
        assert found is not None and found.half_width is not None and found.half_width < 5
