# SPDX-License-Identifier: GPL-2.0-or-later
"""Records of replays that failed in a shard: results/failed/RUN.json, until a later attempt succeeds."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from s80lab.base import host, paths
from s80lab.base.errors import UserError
from s80lab.base.files import read_regular, write_file
from s80lab.base.store import now
from s80lab.base.strict import Strict

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
