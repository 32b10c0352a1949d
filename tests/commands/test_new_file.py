# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab machine new`, `experiment new`, `workload new` and `protocol new`: right, commented files that are never
overwritten."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest
from tests.lab import Lab

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.strict import find
from s80lab.base.suggest import names
from s80lab.commands.line.measure import ExperimentNewArguments, WorkloadNewArguments
from s80lab.commands.new_file import new_experiment, new_workload
from s80lab.config.experiment import Experiment, content_over_bases, load_experiment
from s80lab.config.machine import load_machine
from s80lab.experiment.check import check_file


@pytest.fixture
def bare(tmp_path: Path) -> Lab:
    return Lab(tmp_path / "checkpoints", tmp_path / "results")


@pytest.mark.parametrize("source", names(paths.MACHINES))
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
    assert any(re.match(r'size = "2MiB" +# .*\(0 to 64GiB\)$', line) for line in lines)
    assert any(re.match(r"count = 8 +# hardware threads;.*\(1 to 256\)$", line) for line in lines)
    assert any(re.match(r"# \[bandwidth\] +# service times; 0: unlimited", line) for line in lines)
    assert any(re.match(r"# bus = 0 +# service time of each miss.*\(cycles, 0 to 1000000\)$", line) for line in lines)
    assert any(re.match(r"# \[llc\] +# shared last-level cache", line) for line in lines)
    assert any(re.match(r"# llc = \.\.\. +# a miss that \[llc\] services", line) for line in lines)
    assert any(re.match(r"# slices = 1 +# slices of equal size", line) for line in lines)


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


@pytest.mark.parametrize(
    ("kind", "setting", "reason"),
    [
        ("experiment", "interval=5", "unknown key `interval`"),
        ("experiment", "show=x", "key `show`: `x` is not allowed; write a list"),
        ("experiment", "phases.small.think_ms=nan", "key `phases.small.think_ms`: `NaN` is not allowed"),
        ("experiment", "clients=inf", "key `clients`: `Infinity` is not allowed"),
        ("experiment", "seeds={a=1}", 'key `seeds`: `{"a": 1}` is not allowed'),
        ("experiment", "seeds=[true]", "key `seeds.0`: `true` is not allowed; write a number"),
        ("experiment", "phases.x y.measure=1", "the key `phases.x y.warmup_min` is missing"),
        ("experiment", "gem5.scale=x", "key `gem5.scale`: there is no scale `x`"),
        ("experiment", "base=x", "--set base=x: the option --from names the base"),
        ("workload", "think_ms=nan", "key `think_ms`: `NaN` is not allowed"),
        ("workload", "mix_percent.VIEW=inf", "key `mix_percent.VIEW`: `Infinity` is not allowed"),
        ("workload", "mix_percent={VIEW=100}", "this key is a table"),
        ("workload", "transitions=1", "this key is a table"),
        ("machine", "name=evil", "--set name=evil: the machine has the name of its file"),
        ("machine", "l2.ways=true", "key `l2.ways`: `true` is not allowed; write a number"),
        ("machine", 'guest.cpu="a\\u0000"', '--set guest.cpu="a\\u0000": key `guest.cpu`'),
    ],
)
def test_setting_that_is_wrong_is_named_and_nothing_is_written(
    kind: str, setting: str, reason: str, bare: Lab, tmp_path: Path
) -> None:
    path = tmp_path / "mine.toml"
    said = bare.call(kind, "new", str(path), "--set", setting, code=2)
    assert reason in said and len(said.splitlines()) == 1
    assert not path.exists()


@pytest.mark.parametrize("profile", names(paths.PROFILES))
def test_tables_of_a_workload_are_not_set_in_silence(profile: str, tmp_path: Path) -> None:
    content = tomllib.loads(find("workload", paths.PROFILES, profile).read_text())
    tables = [key for key, value in content.items() if isinstance(value, dict | list)]
    assert tables
    for key in tables:
        path = tmp_path / "mine.toml"
        with pytest.raises(UserError, match=f"--set {key}=.*: this key is a table"):
            new_workload(WorkloadNewArguments(str(path), profile, [f"{key}=[]"]))
        assert not path.exists()


@pytest.mark.parametrize("setting", ["gem5={}", "phases={}", "description=2026-01-01", "phases.tiny.skip=7"])
def test_new_experiment_contains_each_setting(setting: str, bare: Lab, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    bare.call("experiment", "new", str(path), "--set", setting)
    content = tomllib.loads(path.read_text())
    key, _, value = setting.partition("=")
    for part in key.split("."):
        content = content[part]
    assert content == {"{}": {}, "7": 7}.get(value, value)


def test_new_experiment_has_axes_of_both_options(bare: Lab, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    words = ("experiment", "new", str(path), "--vary", "l2.size=2MiB..8MiB", "--vary", "clients=007,10")
    bare.call(*words, "--set", 'sweep.protocol=["mesi"]')
    assert tomllib.loads(path.read_text())["sweep"] == {
        "protocol": ["mesi"],
        "l2.size": ["2MiB", "4MiB", "8MiB"],
        "clients": ["007", "10"],
    }
    path.unlink()
    said = bare.call(*words, "--set", "sweep.clients=[5]", code=2)
    assert "--vary clients: --set sweep.clients names its values too" in said and not path.exists()


def test_new_experiment_cannot_be_its_own_base(bare: Lab, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(paths, "HOME", tmp_path)
    with pytest.raises(UserError, match="the new experiment cannot be its own base"):
        new_experiment(ExperimentNewArguments("imapb"))
    assert not list(tmp_path.rglob("*.toml"))


def test_new_workload_replaces_a_value_of_several_lines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = (paths.PROFILES / "imapb.toml").read_text()
    several = re.sub(r"^VIEW = \[(.*), +0\]$", r"VIEW = [\n \1,\n 0, # last\n]", text, flags=re.M)
    assert several != text
    monkeypatch.setattr(paths, "PROFILES", tmp_path)
    (tmp_path / "several.toml").write_text(several)
    new_workload(
        WorkloadNewArguments(str(tmp_path / "mine.toml"), "several", ["transitions.VIEW=[1,1,1,1,1,1,1,1,1,1]"])
    )
    assert tomllib.loads((tmp_path / "mine.toml").read_text())["transitions"]["VIEW"] == [1] * 10


def test_new_machine_names_only_protocols_of_the_lab(bare: Lab, tmp_path: Path) -> None:
    path, own = tmp_path / "mine.toml", tmp_path / "p" / "mesi.toml"
    own.parent.mkdir()
    own.write_text((paths.PROTOCOLS / "msi.toml").read_text())
    said = bare.call("machine", "new", str(path), "--set", f"protocol={own}", code=2)
    assert "a machine file contains the name of a protocol, not a path; copy the file to configs/protocols" in said
    assert not path.exists()
    bare.call("machine", "new", str(path), "--set", f"protocol={paths.PROTOCOLS / 'mesi.toml'}")
    assert load_machine(str(path)).protocol == "mesi"


def test_new_machine_keeps_description_and_provenance_of_settings(bare: Lab, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    words = ("--set", "description=2026-01-01", "--set", 'provenance={"l2.size" = "stated: a book"}', "--set")
    bare.call("machine", "new", str(path), *words, "l2.ways=8")
    made = load_machine(str(path))
    assert made.description == "2026-01-01"
    assert made.provenance == {"l2.size": "stated: a book", "l2.ways": "assumed: chosen for mine"}


@pytest.mark.parametrize("kind", ["machine", "experiment", "workload", "protocol"])
def test_names_that_no_command_accepts_are_refused(kind: str, bare: Lab, tmp_path: Path) -> None:
    for name in ("-x", "--help", str(tmp_path / "-x.toml")):
        said = bare.call(kind, "new", "--", name, code=2)
        assert "must not begin with -, because commands take such a name for an option" in said
    for name in ("a\nb/x.toml", "a\x1b/x.toml", "a\u202eb/x.toml"):
        said = bare.call(kind, "new", str(tmp_path / name), code=2)
        assert "contains a character that does not print" in said and len(said.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["machine", "experiment", "workload", "protocol"])
def test_advice_can_be_typed_as_it_stands(kind: str, bare: Lab, tmp_path: Path) -> None:
    path = tmp_path / "a b" / "it's.toml"
    said = bare.call(kind, "new", str(path.with_name("mine.toml")))
    advice = re.search(r"run `s80lab ([^`]*)`", said)
    assert advice is not None
    bare.call(*shlex.split(advice[1]))


def test_full_disk_leaves_no_file(small_disk: Path, bare: Lab) -> None:
    path = small_disk / "new" / "mine.toml"
    said = bare.call("machine", "new", str(path), code=2)
    assert f"{path.parent}: the disk of this folder is full" in said and len(said.splitlines()) == 1
    assert list(small_disk.iterdir()) == []


def test_truth_value_as_a_number_is_refused_by_every_command(bare: Lab) -> None:
    said = bare.call("estimate", "imapb", "--set", "l2.ways=true", code=2)
    assert "--set l2.ways=true: key `l2.ways`: `true` is not allowed; write a number" in said


def test_two_values_of_one_key_are_refused(bare: Lab, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    said = bare.call("machine", "new", str(path), "--set", "l2.ways=4", "--set", "l2.ways=8", code=2)
    assert "--set l2.ways=8: l2.ways has another value already" in said and not path.exists()
