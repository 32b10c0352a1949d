# SPDX-License-Identifier: GPL-2.0-or-later
"""The shares that the steady-state test watches, and the curve of sampling intervals, from the first
instruction of the mix to the last measured instruction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from s80lab.base.vocabulary import LABELS
from s80lab.results.metrics.cycles import cycles, has_dimension
from s80lab.results.metrics.registry import ratio
from s80lab.results.snapshots import Delta, Snapshots

Fraction = tuple[float, float]
"""Numerator and denominator of a share."""

SOURCES = {
    "memory": "misses serviced by memory",
    **{state: f"misses serviced from {state}" for state in LABELS["state"]},
    "llc": "misses serviced by the last-level cache",
    "group": "misses serviced by the group cache",
}
"""Only some machines have the last two of them."""
FROM_SHARED = ("miss_source.all.llc", "miss_source.all.group")
"""Metrics of misses that a shared cache serviced, which only some machines have."""

NAMES = {
    **{f"miss_source.all.{source}": f"share of {text}" for source, text in SOURCES.items()},
    "e_share": "E share",
    "e_to_m_share": "E blocks that went to M",
    "upgrades_saved_share": "upgrades avoided by E",
    "kernel_share.cycles": "kernel code's share of busy cycles",
}
"""Metrics of the shares that the steady-state test watches (every share of the headline), with the words of reports and
verdicts."""

EARLIER_NAMES = {"miss_source.all.memory": "memory_share"}
"""Keys of `drift_points` in a stats.json of an earlier version, which watched only this share and the E share."""


def watched(delta: Delta) -> Mapping[str, Fraction]:
    """The watched shares of one stretch, as numerators and denominators, so that the test can form a share over any
    stretch. A share that the engine does not count is left out."""
    misses = delta.total("l2_misses")
    in_e = delta.total("fills", state="E")
    avoided = delta.total("stores_found_e")
    sources = [source for source in SOURCES if source in delta.header.labels["source"]]
    shares: dict[str, Fraction] = {
        **{f"miss_source.all.{source}": (delta.total("miss_source", source=source), misses) for source in sources},
        "e_share": (in_e, delta.total("fills")),
        "e_to_m_share": (delta.total("e_to_m"), in_e),
        "upgrades_saved_share": (avoided, avoided + delta.total("upgrades")),
    }
    if has_dimension(delta, "privilege"):
        shares["kernel_share.cycles"] = (cycles(delta, privilege="kernel"), delta.total("busy_cycles"))
    return shares


Phase = Literal["warm-up", "measured"]


@dataclass(frozen=True)
class SamplingInterval:
    """One sampling interval. end_instructions: counted from the first snapshot of the warm-up. left: blocks that were
    evicted or invalidated; None if these counts do not balance with the fills (gem5). watched: the shares that the
    steady-state test watches, by metric."""

    phase: Phase
    end_instructions: int
    instructions: int
    clock_ns: int
    misses: int
    memory_misses: int
    fills: int
    fills_e: int
    e_to_m: int
    left: int | None
    watched: Mapping[str, Fraction] = field(default_factory=dict)

    @property
    def mpki(self) -> float | None:
        """L2 misses per 1000 instructions."""
        rate = ratio(self.misses, self.instructions)
        return None if rate is None else 1000 * rate

    @property
    def memory_share(self) -> float | None:
        return ratio(self.memory_misses, self.misses)

    @property
    def e_share(self) -> float | None:
        return ratio(self.fills_e, self.fills)

    @property
    def e_to_m_share(self) -> float | None:
        return ratio(self.e_to_m, self.fills_e)

    def record(self) -> dict[str, Any]:
        """Counts and shares in the form of stats.json, without the fractions of the steady-state test."""
        counts = asdict(self)
        del counts["watched"]
        return counts | {name: getattr(self, name) for name in ("mpki", "memory_share", "e_share", "e_to_m_share")}


def curve(run: Snapshots, warm: Snapshots | None = None) -> list[SamplingInterval]:
    """The sampling intervals of the warm checkpoint's snapshots, if given, followed by the run's own up to the end of
    its measured region. If the run continued its checkpoint's counters, the interval in between is included."""
    stretches: list[tuple[Phase, Delta]] = []
    if warm is not None:
        stretches += [("warm-up", interval) for interval in warm.intervals()]
        gap = Delta(run.header, warm.lines[-1], run.lines[0])
        if gap.instructions > 0:
            stretches.append(("warm-up", gap))
    if run.has("measure_begin"):
        begin, end = run.region().begin, run.region().end
        for interval in run.intervals():
            if interval.end.instructions <= begin.instructions:
                stretches.append(("warm-up", interval))
            elif interval.end.instructions <= end.instructions:
                stretches.append(("measured", interval))
    else:
        stretches += [("warm-up", interval) for interval in run.intervals()]
    done = 0
    intervals = []
    for phase, delta in stretches:
        done += delta.instructions
        intervals.append(_interval(phase, done, delta))
    return intervals


def _interval(phase: Phase, end_instructions: int, delta: Delta) -> SamplingInterval:
    return SamplingInterval(
        phase=phase,
        end_instructions=end_instructions,
        instructions=delta.instructions,
        clock_ns=delta.clock_ns,
        misses=delta.total("l2_misses"),
        memory_misses=delta.total("miss_source", source="memory"),
        fills=delta.total("fills"),
        fills_e=delta.total("fills", state="E"),
        e_to_m=delta.total("e_to_m"),
        left=delta.total("l2_evictions") + delta.total("l2_invalidations") if delta.header.engine == "model" else None,
        watched=watched(delta),
    )
