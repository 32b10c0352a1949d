# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab machine new`, `experiment new` and `workload new`: right, commented files that are never overwritten."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from tests.lab import Lab

from s80lab.base import paths
from s80lab.config.experiment import Experiment, content_over_bases, load_experiment
from s80lab.config.machine import load_machine
from s80lab.experiment.check import check_file


@pytest.fixture
def bare(tmp_path: Path) -> Lab:
    return Lab(tmp_path / "checkpoints", tmp_path / "results")


@pytest.mark.parametrize("source", sorted(path.stem for path in paths.MACHINES.glob("*.toml")))
def test_new_machine_has_the_values_of_its_source(source: str, bare: Lab, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    said = bare.call("machine", "new", str(path), "--from", source)
    assert said == f"{path}: {source} with comments; edit the file, then run `s80lab check {path}`\n"
    made, base = load_machine(str(path)), load_machine(source)
    unlike = {"name": "mine", "description": f"{source}, to be changed"}
    assert made == base.model_copy(update=unlike)
    assert check_file(path).problems == ()


def test_new_machine_has_changed_values_with_a_provenance_and_comments(bare: Lab, tmp_path: Path) -> None:
    path = tmp_path / "eight.toml"
    bare.call("machine", "new", str(path), "--set", "processors.count=8", "--set", "l2.size=2MiB")
    made = load_machine(str(path))
    assert (made.name, made.processors.count, made.l2.size) == ("eight", 8, 2 << 20)
    assert made.provenance["l2.size"] == "assumed: chosen for eight"
    assert made.provenance["l2.ways"] == load_machine("s80").provenance["l2.ways"]
    lines = path.read_text().splitlines()
    assert 'size = "2MiB"' in lines
    assert "count = 8               # hardware threads, 1 to 32; the guest boots with as many processors" in lines
    assert "# [bandwidth]             # service times in cycles; 0: unlimited, so that requests never queue" in lines
    assert not any("@" in line for line in lines)


def test_new_machine_takes_the_inclusion_that_its_protocol_requires(bare: Lab, tmp_path: Path) -> None:
    path = tmp_path / "probes.toml"
    bare.call("machine", "new", str(path), "--set", "protocol=hammer")
    made = load_machine(str(path))
    assert (made.protocol, made.l2.inclusion) == ("hammer", "exclusive")


def test_wrong_value_is_refused_and_nothing_is_written(bare: Lab, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    said = bare.call("machine", "new", str(path), "--set", "l2.sise=1MiB", code=2)
    assert "unknown key `l2.sise`: did you mean size?" in said and len(said.splitlines()) == 1
    said = bare.call("experiment", "new", str(path), "--set", "machine=s81", code=2)
    assert "there is no machine `s81` in configs/machines" in said and said.endswith("; nothing was written\n")
    said = bare.call("workload", "new", str(path), "--set", "mix_percent.VIEWS=3", code=2)
    assert "`mix_percent` must have exactly the keys" in said
    assert not path.exists()


@pytest.mark.parametrize("kind", ["machine", "experiment", "workload"])
def test_existing_file_is_never_overwritten(kind: str, bare: Lab, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    bare.call(kind, "new", str(path))
    before = path.read_text()
    said = bare.call(kind, "new", str(path), code=2)
    assert said == f"s80lab: {path} exists already: choose another name, or remove the file first\n"
    assert path.read_text() == before


def test_new_experiment_overrides_keys_of_its_base(bare: Lab, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    words = ("--set", "scale=tiny", "--set", "seeds=[4,5]", "--set", "phases.tiny.think_ms=300")
    bare.call("experiment", "new", str(path), *words, "--vary", "l2.size=2MiB..8MiB", "--vary", "clients=10,20")
    text = path.read_text()
    made = Experiment.model_validate(content_over_bases(path, tomllib.loads(text)))
    base = load_experiment("imapb", {})
    assert (made.machine, made.scale, made.seeds) == (base.machine, "tiny", [4, 5])
    assert made.phases["tiny"] == base.phases["tiny"].model_copy(update={"think_ms": 300})
    assert made.sweep == {"l2.size": ["2MiB", "4MiB", "8MiB"], "clients": [10, 20]}
    assert '# machine = "s80"  # a name in configs/machines' in text.splitlines()
    assert (
        "# warmup_min = 300_000_000  # instructions of all processors together, at least nine sampling intervals"
        in text
    )
    assert check_file(path).problems == ()


def test_commented_keys_of_a_new_experiment_are_right_when_set(bare: Lab, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    bare.call("experiment", "new", str(path), "--from", "imape")
    before, _, _ = path.read_text().partition("# A table [sweep]")
    text = re.sub(r"^# (\[phases\.|\w+ = )", r"\1", before, flags=re.M)
    path.write_text("".join(line for line in text.splitlines(True) if " = ..." not in line))
    assert check_file(path).problems == ()
    made = Experiment.model_validate(content_over_bases(path, tomllib.loads(path.read_text())))
    assert made.phases["small"] == load_experiment("imape", {}).phases["small"]


def test_new_workload_keeps_comments_and_other_values(bare: Lab, tmp_path: Path) -> None:
    path = tmp_path / "reading.toml"
    bare.call("workload", "new", str(path), "--set", "driver=independent", "--set", "mix_percent.VIEW=52")
    made, base = (tomllib.loads(one.read_text()) for one in (path, paths.PROFILES / "imapb.toml"))
    base["mix"], base["driver"], base["mix_percent"]["VIEW"] = "reading", "independent", 52
    assert made == base
    assert "VIEW = 52    # Fetch entire body of a message" in path.read_text().splitlines()
