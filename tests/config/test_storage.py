# SPDX-License-Identifier: GPL-2.0-or-later
"""Disks of a scale: what the guest is told of them, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from s80lab.base.errors import UserError
from s80lab.config.experiment import load_scale
from s80lab.config.machine import load_machine
from s80lab.guest.command import Boot


def test_mail_is_in_memory_by_default() -> None:
    scale = load_scale("tiny")
    assert scale.disks is None and scale.memory() == scale.ram and scale.design() == {}
    assert "storage" not in scale.boot_line() and "disk" not in scale.boot_line()


@pytest.mark.parametrize("name", ["tiny", "small"])
def test_guest_memory_holds_the_disks_and_the_page_cache(name: str) -> None:
    cache = 100 << 20
    scale = load_scale(name, {"storage": "disk", "disk.page_cache": str(cache)})
    more = load_scale(name, {"storage": "disk", "disk.page_cache": str(2 * cache)})
    assert scale.disks is not None
    assert scale.memory() > scale.store_bytes() + cache + scale.disks.programs
    assert more.memory() - scale.memory() == cache and scale.memory() % (1 << 20) == 0
    assert scale.design()["scale.disk.page_cache"] == cache


def test_boot_line_has_the_document_size() -> None:
    scale = load_scale("tiny", {"document_bytes": 10_240})
    assert scale.boot_line().endswith(" s80.document_bytes=10240")
    assert scale.design() == {"scale.document_bytes": 10_240}
    assert "document" not in load_scale("tiny").boot_line() + str(load_scale("tiny").design())
    with pytest.raises(UserError, match="key `document_bytes`"):
        load_scale("tiny", {"document_bytes": -1})


def test_boot_line_has_the_disk_sizes() -> None:
    scale = load_scale("tiny", {"storage": "disk", "disk.count": 3})
    assert scale.boot_line().endswith(" s80.storage=disk s80.disks=3 s80.disk_mib=72")
    assert 2 * scale.store_bytes() < 3 * 72 << 20


@pytest.mark.parametrize(
    ("machine", "service_us", "delay_ns"),
    [
        ("s80", 10_000, 10_000_000),
        ("s80", 1, 1_000),
        ("p4-2ghz", 10_000, 20_000_000),  # its guest's second is half as long
    ],
)
def test_boot_line_has_service_time_on_the_guests_clock(machine: str, service_us: int, delay_ns: int) -> None:
    scale = load_scale("tiny", {"storage": "disk", "disk.service_us": service_us})
    line = Boot(load_machine(machine), scale, Path("/k"), Path("/i")).append()
    assert line.endswith(f" s80.disk_ns={delay_ns}")


@pytest.mark.parametrize(
    ("overrides", "refusal"),
    [
        ({"storage": "tape"}, "key `storage`: `tape` is not one of its values; allowed are disk, memory"),
        ({"disk.counts": 1}, r"unknown key `disk.counts`: .*did you mean count\?"),
        ({"disk.count": 0}, "key `disk.count`"),
    ],
)
def test_invalid_disk_settings_are_refused(overrides: dict[str, object], refusal: str) -> None:
    with pytest.raises(UserError, match=refusal):
        load_scale("tiny", overrides)


def test_scale_without_disk_table_cannot_store_mail_on_disk() -> None:
    with pytest.raises(UserError, match=r"sixteenth.toml: storage = `disk` needs a table \[disk\]"):
        load_scale("sixteenth", {"storage": "disk"})
