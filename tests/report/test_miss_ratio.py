# SPDX-License-Identifier: GPL-2.0-or-later
"""The miss-ratio curve over the L2 sizes of replays in the database."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from s80lab.analysis.groups import read_groups
from s80lab.report.figures.miss_ratio import miss_ratio_pictures, replays_over_sizes
from s80lab.results.database import insert_run
from s80lab.results.metrics.derive import render
from s80lab.results.run_folder import RunFolder

SVG = "{http://www.w3.org/2000/svg}"
KIB = 1024


def add_replay(database: Path, template: Path, size: int, mpki: float, *, form: str = "full", **design: object) -> None:
    """A valid replay of the template's workload with this L2."""
    name = f"replay-{form}-{size}-{'-'.join(map(str, design.values()))}"
    folder = Path(shutil.copytree(template, database.parent / name))
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    changed = {key.replace("__", "."): value for key, value in design.items()}
    manifest["design"] |= {"l2.size": size} | changed
    capture = {"name": "drawn", "form": form, "clients": 40, "think_ms": 4}
    path.write_text(json.dumps(manifest | {"run": name, "engine": "replay", "capture": capture, "filter_error": None}))
    stats = json.loads((folder / "stats.json").read_text())
    stats["metrics"]["l2_mpki.all"] = mpki
    (folder / "stats.json").write_text(render(stats))
    insert_run(database, RunFolder(folder))


@pytest.fixture
def database(runs: Path, tmp_path: Path) -> Path:
    """Replays with three sizes; and one whose latency differs, too."""
    found = tmp_path / "s80lab.sqlite"
    for size, mpki in ((512 * KIB, 8.0), (2048 * KIB, 4.0), (8192 * KIB, 2.0)):
        add_replay(found, runs / "imape-1", size, mpki)
    add_replay(found, runs / "imape-1", 1024 * KIB, 9.0, latency__memory=200)
    return found


def test_replays_of_the_same_machine_are_found_by_size(runs: Path, database: Path) -> None:
    manifest = json.loads((runs / "imape-1" / "manifest.json").read_text())
    found = replays_over_sizes(database, manifest | {"server": "dovecot", "image": "debian"})
    assert [(one.size // KIB, one.mpki) for one in found] == [(512, 8.0), (2048, 4.0), (8192, 2.0)]


def test_sizes_have_their_true_positions_on_a_logarithmic_axis(runs: Path, database: Path) -> None:
    (picture,) = miss_ratio_pictures(read_groups([runs / "imape-1"]), database)
    dots = [dot for dot in ElementTree.fromstring(picture.svg).iter(f"{SVG}circle") if dot.get("fill") != "none"]
    xs, ys = ([float(dot.attrib[key]) for dot in dots] for key in ("cx", "cy"))
    assert xs[1] - xs[0] == pytest.approx(xs[2] - xs[1], abs=0.01)
    assert ys[2] - ys[1] == pytest.approx((ys[1] - ys[0]) / 2, abs=0.01)


def test_too_few_sizes_and_no_database_give_no_curve(runs: Path, tmp_path: Path) -> None:
    groups = read_groups([runs / "imape-1"])
    assert miss_ratio_pictures(groups, None) == []
    few = tmp_path / "few.sqlite"
    for size in (512 * KIB, 1024 * KIB):
        add_replay(few, runs / "imape-1", size, 1.0)
    assert miss_ratio_pictures(groups, few) == []
