# SPDX-License-Identifier: GPL-2.0-or-later
"""What the killed commands work on: checkpoints, a capture, runs and exports. Nothing writes to them later."""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import subprocess
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from tests.capture.conftest import write_capture
from tests.capture.test_captures import keep
from tests.lab import Lab
from tests.simulated_runs import make_result
from tests.simulation import write_run

from s80lab.base.hashing import value_hash
from s80lab.base.progress import Board
from s80lab.commands.run_tables import INVALID
from s80lab.experiment import checkpoint
from s80lab.experiment.checkpoint import GUEST_STATE
from s80lab.guest.command import RAM_FILE
from s80lab.results.metrics.derive import write_stats
from s80lab.results.run_folder import RunFolder

HOSTS, RUNS = ("one", "two"), 12
RAM_MIB = 64
"""Size of the memory of a drawn checkpoint; every second MiB is a hole."""
SEED = "1"
RUN = ("run", "imapb", "--scale", "tiny", "--seeds", SEED)


@dataclass(frozen=True)
class Material:
    """A lab with what the commands need. drawn: its checkpoint and its capture do not come from a guest."""

    lab: Lab
    drawn: bool = False

    @property
    def folder(self) -> Path:
        return self.lab.results.parent

    @property
    def grid(self) -> tuple[str, ...]:
        """The options of the 9 designs that are explored."""
        sizes = "16KiB..64KiB" if self.drawn else "1MiB..4MiB"
        return ("--vary", "protocol=msi,mesi,moesi", "--vary", f"l2.size={sizes}")

    @property
    def exports(self) -> Path:
        return self.folder / "exports"

    def ready(self) -> list[str]:
        """The names of all ready checkpoints, the newest first."""
        return [entry["name"] for entry in self._listed("checkpoint") if entry["stage"] == "ready"]

    def warm(self) -> str:
        """The name of the checkpoint from which the run was measured."""
        (run,) = self.lab.runs()
        return self.lab.checkpoint_of(run).name

    def capture(self) -> str:
        """The name of the newest capture."""
        return self._listed("captures")[0]["name"]

    def _listed(self, noun: str) -> list[dict[str, str]]:
        listed: list[dict[str, str]] = json.loads(self.lab.answer(noun, "list", "--json"))
        return sorted(listed, key=lambda entry: entry["created"], reverse=True)

    def make_run(self) -> None:
        """Both checkpoints and a measured run."""
        shutil.rmtree(self.lab.results, ignore_errors=True)
        self.lab.call(*RUN, code=INVALID)

    def make_explored(self) -> None:
        """A capture, and the runs and the page of its exploration."""
        shutil.rmtree(self.lab.results, ignore_errors=True)
        if not self.drawn:
            self.lab.call("capture", "imapb", "--scale", "tiny", "--seed", SEED)
        elif not self.lab.captures.is_dir():
            source = write_capture(self.folder / "drawn.s80c", accesses=400_000)
            with self.lab.entered():
                keep("drawn-tiny-s1-00000001", source)
        self.lab.call("explore", self.capture(), *self.grid)

    def make_hosts(self) -> None:
        """The results folders of two other hosts, with runs of the random machine. Their runs are copies of one run of
        each mix, under other names."""
        shutil.rmtree(self.folder / "hosts", ignore_errors=True)
        for host, mix in zip(HOSTS, ("imapb", "imape"), strict=True):
            drawn = write_run(self.folder / "hosts" / "drawn" / f"{mix}-tiny-s1-00000000", 1, mix)
            write_stats(RunFolder(drawn))
            make_result(drawn)
            for number in range(1, RUNS + 1):
                copy = self.host(host) / "runs" / f"{drawn.name[:-8]}{number:08x}"
                shutil.copytree(drawn, copy)
                manifest = json.loads((copy / "manifest.json").read_text())
                (copy / "manifest.json").write_text(json.dumps(manifest | {"run": copy.name}))

    def host(self, name: str) -> Path:
        """The results folder of another host."""
        return self.folder / "hosts" / name / "results"

    def make_exports(self) -> None:
        """A checkpoint, and its exports as a folder and as a tar file."""
        if self.drawn and not self.lab.checkpoints.is_dir():
            with self.lab.entered():
                draw_checkpoint("ready-drawn-00000001")
        elif not self.drawn:
            self.lab.call("checkpoint", "build", *RUN[1:], "--stage", "ready")
        shutil.rmtree(self.exports, ignore_errors=True)
        for target in (self.exports, self.exports / "ready.tar"):
            self.lab.call("checkpoint", "export", self.ready()[0], str(target))

    def beside(self, folder: Path) -> Material:
        """The same checkpoints and captures; everything else in another folder."""
        return replace(self, lab=self.lab.beside(folder))


def draw_checkpoint(name: str) -> None:
    """A checkpoint of random bytes with holes, in place of a guest's."""

    async def fill(folder: Path) -> dict[str, str]:
        with (folder / RAM_FILE).open("wb") as file:
            for number in range(RAM_MIB // 2):
                file.seek(number * (2 << 20))
                file.write(random.Random(number).randbytes(1 << 20))
        (folder / GUEST_STATE).write_bytes(b"state")
        return {}

    inputs = {"drawn": name}
    wanted = checkpoint.Wanted("ready", name, value_hash(inputs), inputs)
    asyncio.run(checkpoint.build(wanted, Board(Console(quiet=True)).job(name), fill, nullcontext()))


def link(source: Path, target: Path) -> None:
    """Copy a file or folder with hard links; without them if the file systems differ."""
    target.parent.mkdir(parents=True, exist_ok=True)
    linked = subprocess.run(["cp", "--archive", "--link", source, target], capture_output=True)
    if linked.returncode:
        shutil.rmtree(target, ignore_errors=True)
        subprocess.run(["cp", "--archive", "--sparse=always", source, target], check=True)
