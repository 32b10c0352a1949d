# SPDX-License-Identifier: GPL-2.0-or-later
"""How pytest-xdist spreads the tests over processes (`pytest --numprocesses N`).

A file's tests run in one process, one after the other; those of all files with the mark `changes_lab` do so together,
and before all others: they make what other tests work on. What takes longest begins first, so that the processes end at
about the same time; where it waits for the session's lab, behind what does not.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

LAB = "lab"
MARK = "pytest.mark.changes_lab"
# Of the other files those of half a minute and more; those on the session's lab when it has been made.
LONG = (
    "tests/servers/test_images.py",
    "tests/cluster/test_slurm.py",
    "tests/test_ctest.py",
    "tests/test_extending.py",
    "tests/experiment/test_clock.py",
    "tests/cluster/test_slurm_guests.py",
    "tests/test_wheel.py",
    "tests/loadgen/test_mixes.py",
    "tests/capture/test_capture_guest.py",
    "tests/guest/test_disk.py",
    "tests/guest/test_hygiene.py",
    "tests/servers/test_guest.py",
    "tests/programs/test_guest_clock.py",
    "tests/programs/test_fixed_order.py",
    "tests/commands/test_servers.py",
    "tests/loadgen/test_scripts.py",
    "tests/loadgen/test_web.py",
    "tests/servers/uw/test_load.py",
    "tests/kills/test_kills.py",
    "tests/capture/explore/test_batch.py",
    "tests/test_docs.py",
)


class Spread(LoadScopeScheduling):  # type: ignore[misc]  # it has no types
    """Parts of the tests go to the processes in the order of their urgency."""

    def _split_scope(self, nodeid: str) -> str:
        return part(self.config.rootpath, nodeid)

    def _assign_work_unit(self, node: WorkerController) -> None:
        self.workqueue.move_to_end(min(self.workqueue, key=urgency), last=False)
        super()._assign_work_unit(node)


def part(root: Path, test: str) -> str:
    """The name of all tests that share a process with this one (`folder/test_file.py::test_name[parameters]`)."""
    file = test.partition("::")[0]
    return LAB if _changes_lab(root / file) else file


def urgency(name: str) -> int:
    """Of a part: the least goes first."""
    order = (LAB, *LONG)
    return order.index(name) if name in order else len(order)


@cache
def _changes_lab(file: Path) -> bool:
    return MARK in file.read_text(encoding="utf-8")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Spread:
    return Spread(config, log)
