# SPDX-License-Identifier: GPL-2.0-or-later
"""Which runs are invalid: one line per group, and a table of the reasons, also by the parts of the steady state."""

from __future__ import annotations

from collections.abc import Sequence

from s80lab.analysis.groups import Group, Run
from s80lab.base.format import ABSENT
from s80lab.base.terminal import counted
from s80lab.report.seeds import named_runs_text
from s80lab.report.tables import Cell, Row, Table
from s80lab.results.metrics.sampling import EARLIER_NAMES, NAMES
from s80lab.results.metrics.warmup import ALLOWED_DRIFT_POINTS

TITLE = "Violated conditions"
STEADY_STATE = "not in steady state"
"""The reason that results.metrics.standing gives for a warm-up that failed; its parts are in the record of the
warm-up."""


def invalid_runs(groups: Sequence[Group]) -> list[Run]:
    """All invalid runs of the groups, those that are left out of the means included."""
    return [run for group in groups for run in (*group.runs, *group.excluded) if run.reasons]


def verdicts(groups: Sequence[Group]) -> list[tuple[str, str]]:
    """The sentences above all numbers: for each group with invalid runs the verdict, and how many runs it concerns."""
    sentences = []
    for group in groups:
        total, bad = len(group.runs) + len(group.excluded), len(invalid_runs([group]))
        if group.excluded:
            head = f"{group.label}: {len(group.runs)} of {total} runs are valid."
            sentences.append((head, "The other runs are left out of every mean."))
        elif bad:
            sentences.append((f"{group.label}: invalid.", f"{bad} of {counted(total, 'run')}."))
    return sentences


def verdicts_with_reasons(groups: Sequence[Group]) -> list[tuple[str, str]]:
    """The verdicts for pages without the table of violated conditions: with the reasons as sentences."""
    return [
        (head, f"{why} {_why(group, invalid_runs([group]))}")
        for group in groups
        if group.reasons or group.excluded
        for head, why in verdicts([group])
    ]


def _why(group: Group, runs: Sequence[Run]) -> str:
    """The reasons why runs of the group are invalid, by seed: `Seeds 1, 2: not in steady state (...). Seed 3: ...`."""
    by_reason: dict[str, list[Run]] = {}
    for run in runs:
        by_reason.setdefault("; ".join(run.reasons), []).append(run)
    sentences = []
    for reason, concerned in by_reason.items():
        # An imported trace has no seed.
        text = reason if group.imported else f"{named_runs_text(group, concerned)}: {reason}"
        sentences.append(f"{text[:1].upper()}{text[1:]}.")
    return " ".join(sentences)


def invalid_table(groups: Sequence[Group], most: int | None = None) -> Table | None:
    """One row per condition that a run violates, with the run; None if every run is valid. most: the largest number of
    rows; the table's note counts the further ones."""
    rows: list[Row] = []
    for group in groups:
        for run in invalid_runs([group]):
            rows += [Row(text, (Cell(_name(group, run, len(groups))),)) for text in conditions(run)]
    if not rows:
        return None
    note = f"{counted(len(rows) - most, 'further condition')} on the page." if most and len(rows) > most else ""
    return Table(TITLE, ("run",), rows[:most], note)


def _name(group: Group, run: Run, groups: int) -> str:
    """The run among the runs of so many groups."""
    if group.imported:
        return group.label
    name = named_runs_text(group, [run])
    return name if groups == 1 else f"{group.label}, {name}"


def conditions(run: Run) -> list[str]:
    """The conditions that the run violates, one text each. The parts of the steady-state test come one by one."""
    texts: list[str] = []
    for reason in run.reasons:
        parts = run.stats["warmup"].get("reasons", ()) if reason.startswith(STEADY_STATE) else ()
        texts += [f"steady state: {part}" for part in parts] or [reason]
    return texts


NOTE = (
    "Drift: the share in the last third of the warm-up minus the share in the third before, in points (percent); of "
    "all seeds the largest, ± its standard error. A run is valid only if each drift is below the limit, its standard "
    "error is at most half the limit, and no drift is more than chance (5% for all shares together)."
)


def steady_state_table(groups: Sequence[Group]) -> Table:
    """One row per watched share and one column per group. Shares without a drift in any group are left out."""
    table = Table("Drift of the headline shares at the end of the warm-up", tuple(group.label for group in groups))
    table.rows.append(Row("limit", tuple(Cell(_limit(group)) for group in groups)))
    for metric, name in NAMES.items():
        cells = tuple(Cell(_drift(group, metric)) for group in groups)
        if any(cell.text != ABSENT for cell in cells):
            table.rows.append(Row(name, cells))
    table.note = NOTE
    return table


def _limit(group: Group) -> str:
    limits = {float(run.manifest.get("drift_points", ALLOWED_DRIFT_POINTS)) for run in group.runs}
    return f"{', '.join(f'{limit:g}' for limit in sorted(limits))} points"


def _drift(group: Group, metric: str) -> str:
    """The largest drift of the group's runs in points, with its standard error if it is known."""
    found: list[tuple[float, float | None]] = []
    for run in group.runs:
        warmup = run.stats["warmup"]
        drifts, errors = warmup["drift_points"], warmup.get("error_points", {})
        key = metric if metric in drifts else EARLIER_NAMES.get(metric, metric)
        if (drift := drifts.get(key)) is not None:
            found.append((drift, errors.get(key)))
    if not found:
        return ABSENT
    points, error = max(found, key=lambda one: abs(one[0]))
    return f"{points:+.1f}" if error is None else f"{points:+.1f} ± {error:.1f}"
