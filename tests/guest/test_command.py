# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU's command line: what repeatability rests on is there, and nothing of a session reaches the key."""

from __future__ import annotations

import mmap
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from s80lab.config.experiment import load_scale
from s80lab.config.machine import load_machine
from s80lab.guest.command import Boot, Session, arguments, guest_options

BOOT = Boot(load_machine("s80"), load_scale("tiny"), Path("/k"), Path("/i"))


def session(shared: bool) -> Session:
    return Session(
        folder=Path("/f"),
        ram=Path("/f/ram.img"),
        shared=shared,
        socket=Path("/s"),
        job=Path("/f/job"),
        plugin=Path("/p.so"),
        plugin_arguments={"machine": Path("/f/m"), "skip": 5},
        incoming=True,
    )


def following(options: list[str], name: str) -> list[str]:
    return [after for option, after in pairwise(options) if option == name]


def test_qemu_options_keep_host_clock_and_entropy_from_the_guest() -> None:
    options = arguments(BOOT, session(shared=True))
    assert following(options, "-icount") == ["shift=0,sleep=off"]
    assert following(options, "-rtc") == ["base=2026-01-01T00:00:00,clock=vm"]
    assert following(options, "-seed") == ["1"]
    assert following(options, "-nic") == ["none"]
    assert "-nodefaults" in options


def test_checkpoint_shares_its_ram_file_and_run_maps_it_private() -> None:
    written = following(arguments(BOOT, session(shared=True)), "-object")[0]
    assert written == f"memory-backend-file,id=ram0,size={BOOT.scale.ram},mem-path=/f/ram.img,share=on"
    private = following(arguments(BOOT, session(shared=False)), "-object")[0]
    assert private.endswith(",share=off,readonly=on,rom=off")


def test_job_and_plugin_are_handed_over() -> None:
    options = arguments(BOOT, session(shared=False))
    assert following(options, "-fw_cfg") == ["name=opt/s80lab/job,file=/f/job"]
    assert following(options, "-plugin") == ["/p.so,machine=/f/m,skip=5"]


def test_plugin_arguments_name_files_behind_a_link_as_linux_shows_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plugin looks for its argument `ram` in /proc/self/maps."""
    (tmp_path / "real").mkdir()
    file = tmp_path / "real" / "ram.img"
    file.write_bytes(bytes(4096))
    (tmp_path / "link").symlink_to(tmp_path / "real")
    monkeypatch.chdir(tmp_path)
    for ram in (tmp_path / "link" / "ram.img", Path("real/ram.img"), Path("link/ram.img")):
        asked = replace(session(shared=False), plugin_arguments={"ram": ram, "skip": 5})
        (plugin,) = following(arguments(BOOT, asked), "-plugin")
        name = plugin.split(",")[1].removeprefix("ram=")
        with ram.open("rb") as opened, mmap.mmap(opened.fileno(), 0, prot=mmap.PROT_READ):
            maps = Path("/proc/self/maps").read_text().splitlines()
        assert [line for line in maps if line.endswith(f" {name}")] and plugin.endswith(",skip=5")


def test_socket_is_shared_by_threads_of_one_core_only() -> None:
    machine = load_machine("s80", {"processors.threads_per_core": 2})
    options = guest_options(Boot(machine, BOOT.scale, BOOT.kernel, BOOT.initramfs))
    assert following(options, "-smp") == ["18,sockets=9,cores=1,threads=2"]
    assert "l3-cache=off" in following(options, "-cpu")[0]


def test_guest_options_contain_machine_and_mail_store_but_no_path() -> None:
    options = guest_options(BOOT)
    assert following(options, "-smp") == ["18,sockets=18,cores=1,threads=1"]
    (line,) = following(options, "-append")
    assert line == f"{BOOT.machine.guest.kernel_args} {BOOT.scale.boot_line()}"
    assert not any(option.startswith("/") for option in options)


def test_comma_in_a_folder_name_adds_no_qemu_option() -> None:
    folder = Path("/f,server=off")
    options = arguments(
        BOOT,
        replace(
            session(shared=True),
            folder=folder,
            ram=folder / "ram.img",
            socket=folder / "s",
            job=folder / "job",
            plugin=folder / "p.so",
            plugin_arguments={"ram": folder / "ram.img"},
        ),
    )
    doubled = "/f,,server=off"
    assert f",mem-path={doubled}/ram.img," in following(options, "-object")[0]
    assert following(options, "-qmp") == [f"unix:{doubled}/s,server=on,wait=off"]
    assert following(options, "-fw_cfg") == [f"name=opt/s80lab/job,file={doubled}/job"]
    assert following(options, "-plugin") == [f"{doubled}/p.so,ram={doubled}/ram.img"]
    assert all(option.count(f"path={doubled}/") == 1 for option in following(options, "-chardev"))
