# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of older versions, each with the name that replaced it, and keys whose subject has another place. s80lab
refuses such a name with the name or the place that users want.

After a rename, add the old name here and to the table in docs/guides/troubleshooting.md. No other code is necessary:
s80lab.base.suggest reads these tables for every unknown name. A name without a successor belongs into REMOVED.
"""

from __future__ import annotations

from collections.abc import Collection

METRICS = {
    "body_mbit_per_s": "body_mbit",
    "modelled_s": "simulated_s",
    "stream_mbit_per_s": "stream_mbit",
    "turn_length": "slice_length",
    "turn_over": "slice_over",
    "turns_m": "slices_m",
}
"""Names without the label that may follow them: the old `turn_length.median` is now `slice_length.median`."""
KEYS = {"slice_instructions": "filter_instructions", "turn_instructions": "epoch_cycles"}
"""The last parts of dotted keys."""
PROGRAMS = {"s80-order count": "s80-step count", "s80-order step": "s80-step step"}
"""Commands of programs in C++; the old program itself prints the new name."""
PHASE_KEYS = {"window": "sampling_interval"}
"""Keys of the tables [phases.SCALE] of an experiment."""
_COUNTS = (
    *("line_access", "miss_source", "stall", "fill", "execution", "instruction", "e_block"),
    *("entry", "entry_miss_source", "entry_stall"),
)
TABLES = {
    **dict.fromkeys(_COUNTS, "counter"),
    "stats_window": "sampling_interval",
    "v_windows": "v_sampling_intervals",
    "v_windows_all": "v_sampling_intervals_all",
}
COLUMNS = {"mix": "workload", "modelled_ns": "simulated_ns", "warm": "warmup"}

RENAMED = {
    "metric": METRICS,
    "key": KEYS,
    "program": PROGRAMS,
    "phase key": PHASE_KEYS,
    "table": TABLES,
    "column": COLUMNS,
}
"""The tables by kind of name: `command`, `option` (with its hyphens), `key`, `table`, `column`, `experiment`, ..."""

RESULT_KEYS = {
    "identities": "conservation_checks",
    "mix": "workload",
    "modelled_ns": "simulated_ns",
    "modelled_s": "simulated_s",
    "windows": "sampling_intervals",
}
"""Keys of manifest.json and stats.json of schema 1, with those of schema 2, at any depth."""
VERDICTS = {"result": "valid", "not a result": "invalid", "warm": "steady", "not warm": "not steady"}
"""Values of `verdict` in the same files."""
MARKS = {"window": "sampling_interval"}
"""Marks of snapshots of schema 1."""

_SIMULATED = "the guest's clock shows simulated time"
_KERNEL_TICKS = "the guest's kernel has its own 250 timer interrupts per second"
REMOVED = {
    "guest.time_ratio": _SIMULATED,
    "guest.tick_hz": _KERNEL_TICKS,
    "guest_time_ratio": _SIMULATED,
    "guest_time_ratio_wanted": _SIMULATED,
    "tick_hz_wanted": _KERNEL_TICKS,
    "--order": "the model keeps the order in which the guest executed conflicting accesses",
}
"""Names without a successor (dotted keys, metrics and options), each with the reason."""

ELSEWHERE = {
    "llc.inclusion": "the form of the last-level cache is a property of the protocol; choose it with --protocol "
    "mesi-llc (inclusive), --protocol mesif-snoop-filter (non-inclusive) or --protocol chi-slc (exclusive for unique "
    "blocks)",
}
"""Keys that never existed, each with the place of what users look for under this name."""


def rename_sentence(name: str, allowed: Collection[str]) -> str:
    """The sentence "`OLD` is now `NEW`" if `name` was renamed to one of the allowed names, the sentence that says why
    `name` was removed, or the one that names the place of its subject; else empty. `name` and the allowed names may
    have a label after a dot."""
    known = {part for one in allowed for part in (one, one.partition(".")[0])}
    for old in (name, name.partition(".")[0]):
        if new := next((table[old] for table in RENAMED.values() if table.get(old) in known), None):
            return f"`{old}` is now `{new}`"
    return f"`{name}` was removed, because {REMOVED[name]}" if name in REMOVED else ELSEWHERE.get(name, "")
