# SPDX-License-Identifier: GPL-2.0-or-later
"""The [sweep] of an experiment: every combination is a plan a seed, and shares what it can."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.lab import Lab

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.experiment.entries import manifest_entries
from s80lab.experiment.plan import Options, Plan, designs, planner
from s80lab.gem5.plan import gem5_plans
from s80lab.guest.qemu import find_qemu
from s80lab.image import build

SWEEP = """
[sweep]
workload = ["imapb", "imape"]
clients = [10, 30]
"l2.size" = ["1MiB", "8MiB"]
"""


@pytest.fixture
def swept(with_sweep: Callable[[str], Path]) -> Path:
    return with_sweep(SWEEP)


def plans(options: Options) -> list[Plan]:
    return planner("swept", options)(find_qemu())


def test_sweep_has_a_plan_per_combination_and_seed(lab: Lab, swept: Path) -> None:
    found = plans(Options(seeds=[1, 2]))
    assert len(found) == 16 and len({plan.keys.warm.key for plan in found}) == 16
    assert [(plan.label, plan.seed) for plan in found[:3]] == [
        ("imapb, clients 10, l2.size 1MiB", 1),
        ("imapb, clients 10, l2.size 1MiB", 2),
        ("imapb, clients 10, l2.size 8MiB", 1),
    ]
    last = found[-1]
    assert (last.experiment.workload, last.clients, last.machine.l2.size) == ("imape", 30, 8 << 20)
    assert "clients=30" in last.job() and manifest_entries(last)["workload"] == "imape"
    assert manifest_entries(last)["varied"] == {"workload": "imape", "clients": "30", "l2.size": "8MiB"}
    # One guest serves both mixes and every cache; who logs in is another matter.
    assert len({plan.keys.ready.key for plan in found}) == 2


def test_plan_without_sweep_has_no_label(lab: Lab) -> None:
    (plan,) = planner("imapb", Options(seeds=[1]))(find_qemu())
    assert plan.label == "" and "varied" not in manifest_entries(plan)


@pytest.mark.parametrize(
    ("wrong", "refusal"),
    [
        ('"l2.sise" = ["1MiB"]', r"unknown key `l2.sise`.*did you mean"),
        ("clients = [0]", r"\[sweep\]: key `clients`"),
        ('think_ms = ["long"]', r"\[sweep\]: key `think_ms`"),
        ('protocol = ["mosey"]', "there is no protocol `mosey`"),
        ('server = ["dovecat"]', "there is no server `dovecat`.*did you mean dovecot"),
        ('workload = ["imapc"]', "there is no workload `imapc`"),
        ('workload = ["web"]', "workload web needs a server for web, but dovecot serves imap: choose another"),
        ("clients = []", "sweep.clients"),
        ('"scale.storage" = ["tape"]', r"\[sweep\] scale.storage=tape: key `storage`"),
        ('"workload.request_max" = [10]', r"\[sweep\] workload.request_max=10: unknown key `request_max`"),
        ('"workload.incoming_per_s" = [-1]', r"\[sweep\] workload.incoming_per_s=-1: key `incoming_per_s`"),
    ],
)
def test_sweep_over_unknown_value_is_refused(lab: Lab, swept: Path, wrong: str, refusal: str) -> None:
    swept.write_text(swept.read_text().replace(SWEEP, f"\n[sweep]\n{wrong}\n"))
    with pytest.raises(UserError, match=refusal):
        plans(Options(seeds=[1]))


@pytest.mark.parametrize("read", [planner, gem5_plans])
def test_unknown_metric_in_show_is_refused_when_the_experiment_is_read(
    swept: Path, read: Callable[[str, Options], object]
) -> None:
    swept.write_text('show = ["through_put"]\n' + swept.read_text())
    with pytest.raises(UserError, match=r"swept\.toml: `show` names the metric `through_put`, .*throughput"):
        read("swept", Options())


def test_keys_of_the_scale_are_swept_too(lab: Lab, swept: Path) -> None:
    swept.write_text(swept.read_text().replace(SWEEP, '\n[sweep]\n"scale.storage" = ["memory", "disk"]\n'))
    memory, disk = plans(Options(seeds=[1], settings={"scale.disk.count": 3}))
    assert (memory.label, disk.label) == ("storage memory", "storage disk")
    assert memory.keys.ready.key != disk.keys.ready.key
    assert "scale.storage" not in memory.design
    assert (disk.design["scale.storage"], disk.design["scale.disk.count"]) == ("disk", 3)
    assert " s80.disks=3 " in disk.boot.append()


def test_designs_are_those_of_the_plans(lab: Lab, swept: Path) -> None:
    own = plans(Options(seeds=[1]))
    assert [(one.point, one.design) for one in designs("swept", Options())] == [
        (plan.varied, plan.design) for plan in own
    ]
    for key, value in (("scale.mailbox_kib", 48), ("scale.ram", 2 << 30), ("workload.header_fetch", 7)):
        others = plans(Options(seeds=[1], settings={key: value}))
        assert [plan.design for plan in others] == [plan.design | {key: value} for plan in own]


def test_keys_of_the_workload_are_swept_too(lab: Lab, swept: Path) -> None:
    swept.write_text(swept.read_text().replace(SWEEP, '\n[sweep]\n"workload.incoming_per_s" = [1, 2]\n'))
    one, two = plans(Options(seeds=[1], settings={"workload.header_fetch": 7}))
    assert (one.label, two.label) == ("incoming_per_s 1", "incoming_per_s 2")
    assert one.keys.ready.key == two.keys.ready.key and one.keys.warm.key != two.keys.warm.key
    assert {"incoming_per_s=2", "header_fetch=7"} <= set(two.job().splitlines())
    assert (two.design["workload.incoming_per_s"], two.design["workload.header_fetch"]) == (2, 7)
    assert "workload.header_fetch" not in plans(Options(seeds=[1]))[0].design


def test_swept_protocol_cannot_be_overridden(lab: Lab, swept: Path) -> None:
    swept.write_text(swept.read_text().replace(SWEEP, '\n[sweep]\nprotocol = ["mesi", "moesi"]\n'))
    assert [plan.protocol_name for plan in plans(Options(seeds=[1]))] == ["mesi", "moesi"]
    with pytest.raises(UserError, match="sweeps `protocol`: omit --protocol"):
        plans(Options(protocol="msi"))


def test_swept_server_has_its_own_image_and_process_classes(
    lab: Lab, swept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = paths.BUILD / "image" / "debian"
    (tmp_path / "image").mkdir()
    for name in ("debian", "debian-uw"):
        (tmp_path / "image" / name).symlink_to(usual)
    monkeypatch.setattr(build, "BUILD", tmp_path)
    swept.write_text(swept.read_text().replace(SWEEP, '\n[sweep]\nserver = ["dovecot", "uw"]\n'))
    one, other = plans(Options(seeds=[1]))
    assert [plan.image.name for plan in (one, other)] == ["debian", "debian-uw"]
    assert (manifest_entries(one)["server"], manifest_entries(other)["server"], other.label) == ("dovecot", "uw", "uw")
    assert one.keys.warm.inputs["classes"] != other.keys.warm.inputs["classes"]
    with pytest.raises(UserError, match="sweeps `server`: omit --server"):
        plans(Options(server="uw"))
