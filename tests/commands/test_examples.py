# SPDX-License-Identifier: GPL-2.0-or-later
"""The examples of --help. Those that need neither a guest nor gem5 are executed as they are printed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.capture.conftest import write_capture
from tests.capture.test_captures import keep
from tests.kills.material import draw_checkpoint
from tests.lab import LIMIT_S, Lab

from s80lab.base import paths
from s80lab.commands.init import make_lab
from s80lab.commands.line.app import declarations
from s80lab.results.database import insert_run
from s80lab.results.run_folder import RunFolder

COLUMNS = 80
DECLARED = list(declarations())
EXAMPLES = [example for declaration in DECLARED for example in declaration.examples]
NOT_EXECUTED = (
    # They need a guest or its image.
    *("s80lab run", "s80lab exec", "s80lab estimate", "s80lab capture ", "s80lab misses", "s80lab profile"),
    *("s80lab knockout imapb --seeds", "s80lab checkpoint build", "s80lab image build", "s80lab image symbols"),
    *("s80lab bench", "s80lab batch --slurm --minutes 60 run"),
    # They need runs of several designs.
    *("s80lab compare imapb", "s80lab report imapb --protocol mesi"),
    "s80lab sweep imapb",
    # They need gem5.
    *("s80lab gem5", "s80lab agree"),
    # They write pages and results of the checkout.
    *("s80lab reference", "s80lab filter-error", "s80lab protocol docs", "make pages"),
    # A checkout refuses it.
    "s80lab init",
)
QUESTIONS = (" captures remove", " checkpoint remove", " captures prune --keep", " checkpoint prune --keep")


def executed() -> dict[str, list[str]]:
    """The examples that are executed, in their order, by the first word after s80lab."""
    found: dict[str, list[str]] = {}
    for example in EXAMPLES:
        if not example.startswith(NOT_EXECUTED):
            found.setdefault(example.split()[1], []).append(example)
    return {name: sorted(examples, key=_removes) for name, examples in found.items()}


def _removes(example: str) -> int:
    """How much an example removes of what the others need: they are executed first."""
    if example.endswith("--dry-run"):
        return 0
    return next((place for place, word in enumerate(("prune", "remove"), 1) if f" {word} " in example), 0)


@dataclass(frozen=True)
class Place:
    """A lab, and a folder in which a user works."""

    lab: Lab
    folder: Path

    def run(self, example: str) -> subprocess.CompletedProcess[str]:
        """Run an example in a shell. Other hosts' folders lie below the folder, and questions are answered."""
        line = example.replace("/mnt/", f"{self.folder}/mnt/")
        if any(words in example for words in QUESTIONS) and not example.endswith("--dry-run"):
            line += " --yes"
        environment = self.lab.environment() | {
            "HOME": str(self.folder),
            "S80LAB_HOME": str(self.folder / "lab"),
            "S80LAB_PROOFS": str(paths.BUILD / "proofs"),
            "S80LAB_QEMU_FOLDER": str(paths.qemus()),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        }
        return subprocess.run(
            ["bash", "-c", line],
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )


@pytest.fixture(scope="session")
def example_capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_capture(tmp_path_factory.mktemp("captures") / "drawn.s80c", accesses=40_000)


@pytest.fixture
def prepared(tmp_path: Path, made_runs: Path, example_capture: Path) -> Place:
    """A lab with runs of both mixes at two scales, a capture and a checkpoint, all without a guest."""
    lab = Lab(tmp_path / "checkpoints", tmp_path / "results")
    make_lab(tmp_path / "lab")
    for scale in ("tiny", "small"):
        for number, (mix, seed) in enumerate((mix, seed) for mix in ("imapb", "imape") for seed in (1, 2, 3)):
            folder = lab.results / "runs" / f"{mix}-{scale}-s{seed}-{number:08x}"
            shutil.copytree(made_runs / f"{mix}-{seed}", folder)
            manifest = json.loads((folder / "manifest.json").read_text())
            changed = {"run": folder.name, "scale": scale, "seed": seed}
            (folder / "manifest.json").write_text(json.dumps(manifest | changed))
            insert_run(lab.results / "s80lab.sqlite", RunFolder(folder))
    with lab.entered():
        keep("imapb-small-s1-full-00000001", example_capture)
        draw_checkpoint("warm-imapb-small-s1-00000001")
    other = tmp_path / "mnt" / "host2" / "results" / "runs"
    shutil.copytree(lab.results / "runs", other)
    shutil.copytree(paths.LESSONS, tmp_path / "docs" / "traces")
    place = Place(lab, tmp_path)
    assert place.run("s80lab protocol new mine.toml").returncode == 0
    return place


@pytest.mark.parametrize("name", executed())
def test_examples_work_as_they_are_printed(prepared: Place, name: str) -> None:
    for example in executed()[name]:
        done = prepared.run(example)
        # `doctor` also ends with 1 if this host lacks something.
        assert done.returncode in ((0, 1) if name == "doctor" else (0,)), f"$ {example}\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("prefix", NOT_EXECUTED)
def test_reason_not_to_execute_concerns_an_example(prefix: str) -> None:
    assert any(example.startswith(prefix) for example in EXAMPLES)


def test_help_examples_fit_in_80_columns() -> None:
    assert [example for example in EXAMPLES if len(f"  {example}") > COLUMNS] == []


def test_help_examples_have_no_placeholders() -> None:
    assert [example for example in EXAMPLES if "..." in example or "NAME" in example] == []
