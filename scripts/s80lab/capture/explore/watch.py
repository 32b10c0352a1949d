# SPDX-License-Identifier: GPL-2.0-or-later
"""Progress of an exploration whose shards run on several hosts, as their folders show it, and records of replays that
failed in a shard: results/failed/RUN.json, until a later attempt succeeds."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from s80lab.base import host, paths
from s80lab.base.errors import UserError
from s80lab.base.files import read_regular, write_file
from s80lab.base.staging import PARTIAL
from s80lab.base.store import now
from s80lab.base.strict import Strict
from s80lab.capture.explore.plan import ReplayList
from s80lab.results.products import listed_run
from s80lab.results.run_folder import MANIFEST

RECENT_S = 600.0
"""The rate is that of the replays that were completed in this time."""


@dataclass(frozen=True)
class Progress:
    """The state of the replays of a plan.

    total, complete: number of replays. running: partial folders. hosts: names of the hosts that make them.
    failed: the failures of replays that are not complete. rate: complete replays per second, of the last ten minutes.
    """

    total: int
    complete: int
    running: int
    hosts: frozenset[str]
    failed: Sequence[Failure]
    rate: float

    @property
    def ended(self) -> bool:
        """Whether every replay is complete or has failed."""
        return self.complete + len(self.failed) == self.total

    @property
    def left_s(self) -> float | None:
        """Expected seconds until the last replay is complete; None if none was completed recently."""
        left = self.total - self.complete - len(self.failed)
        return left / self.rate if self.rate else None

    def details(self) -> list[str]:
        """The state in words, the most important first."""
        found = [f"{self.complete:,} of {self.total:,} complete", f"{len(self.failed)} failed"]
        found.append(f"{60 * self.rate:.1f} per minute")
        on = f" on {', '.join(sorted(self.hosts))}" if self.hosts else ""
        return [*found, f"{self.running} in progress{on}"]


@dataclass
class Watcher:
    """Looks at the results folders of all hosts. A replay that was seen complete is not looked at again.

    results: results folders, or folders of run folders.
    """

    content: ReplayList
    results: Sequence[Path]
    _completed: dict[str, float] = field(default_factory=dict)

    def look(self) -> Progress:
        """The present state."""
        wanted = {entry.run for entry in self.content.entries}
        running: list[str] = []
        failed: dict[str, Failure] = {}
        for folder in self.results:
            runs = folder / "runs" if (folder / "runs").is_dir() else folder
            names = [entry.name for entry in os.scandir(runs)] if runs.is_dir() else []
            self._take(runs, [name for name in names if name in wanted and name not in self._completed])
            running += [name for name in names if name.startswith(f"{PARTIAL}replay-")]
            failed |= read_failures(folder)
        lacking: Mapping[str, Failure] = {
            run: failure for run, failure in failed.items() if run in wanted and run not in self._completed
        }
        return Progress(
            total=len(wanted),
            complete=len(self._completed),
            running=len(running),
            hosts=frozenset(name.rpartition("@")[2] for name in running if "@" in name),
            failed=list(lacking.values()),
            rate=self._rate(time.time()),
        )

    def _take(self, runs: Path, names: Sequence[str]) -> None:
        for name in names:
            if listed_run(runs / name):
                self._completed[name] = (runs / name / MANIFEST).stat().st_mtime

    def _rate(self, now: float) -> float:
        """Complete replays per second."""
        recent = [at for at in self._completed.values() if now - at < RECENT_S]
        if len(recent) < 2:
            return 0.0
        return len(recent) / max(now - min(recent), 1.0)


FAILED = "failed"
LARGEST = 1 << 20
"""Largest size of a record in bytes."""


class Failure(Strict):
    """A replay that failed. job: the design in words."""

    run: str
    job: str
    reason: str
    host: str
    created: str


def record_failure(run: str, job: str, reason: str) -> None:
    """Record that the replay with this run folder failed."""
    failure = Failure(run=run, job=job, reason=reason, host=host.name(), created=now())
    write_file(_file(paths.results(), run), failure.model_dump_json(indent=1) + "\n")


def clear_failure(run: str) -> None:
    """Remove the record of a replay that is complete now."""
    _file(paths.results(), run).unlink(missing_ok=True)


def read_failures(results: Path) -> dict[str, Failure]:
    """The recorded failures in a results folder, by the name of the run. Unreadable records are left out."""
    found = {}
    for path in sorted((results / FAILED).glob("*.json")):
        try:
            failure = Failure.model_validate_json(read_regular(path, LARGEST))
        except (UserError, ValidationError):
            continue
        found[failure.run] = failure
    return found


def _file(results: Path, run: str) -> Path:
    return results / FAILED / f"{run}.json"
