# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab doctor`: one line per requirement of the default experiments, with a remedy if it is not met."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass

import typer

from s80lab.base import host, paths
from s80lab.base.errors import UserError
from s80lab.base.terminal import counted, disk_size, say
from s80lab.commands.line.maintain import DoctorArguments
from s80lab.commands.output import print_json
from s80lab.config.experiment import load_experiment, load_scale
from s80lab.experiment import resources
from s80lab.guest.plugin import check_plugin
from s80lab.guest.qemu import describe_qemu, present_qemu
from s80lab.image.build import load_image

TOOLS = {
    "setpriv": "ends guests with s80lab",
    "cp": "copies checkpoints",
    "mmdebstrap": "unpacks the guest's packages",
    "mkfs.erofs": "hands programs over to the guest",
    "rumur": "proves protocols",
    "cc": "compiles the proofs",
}
"""Programs of Debian packages, and what s80lab uses each for."""
DEFAULT_SCALE = "small"


@dataclass(frozen=True)
class Finding:
    """The result of one check. text: what was found if `good`, else what to do."""

    subject: str
    good: bool
    text: str


def doctor_command(args: DoctorArguments) -> None:
    """Check whether this host can run the default experiments, and print a remedy for each requirement that is not met.

    The command only looks: it fetches, builds and writes nothing.
    """
    findings = examine(args.scale)
    if args.as_json:
        print_json([asdict(finding) for finding in findings])
    for finding in () if args.as_json else findings:
        say(f"{'ok  ' if finding.good else 'FAIL'} {finding.subject}: {finding.text}", sys.stdout, indent=5)
    failed = [finding for finding in findings if not finding.good]
    if not args.as_json:
        scale_option = "" if args.scale == DEFAULT_SCALE else f" --scale {args.scale}"
        unmet = f"{counted(len(failed), 'requirement')} of this page {'is' if len(failed) == 1 else 'are'} not met"
        ready = f"this host is ready: the next step is `s80lab run imapb{scale_option}`"
        say(f"{unmet}: repair what FAIL names, and repeat `s80lab doctor`" if failed else ready, sys.stdout)
    if failed:
        raise typer.Exit(1)


def examine(scale: str) -> list[Finding]:
    """Check everything that `s80lab run` needs for an experiment at this scale."""
    checks: list[tuple[str, Callable[[], str]]] = [
        ("tools", _tools),
        ("QEMU", describe_qemu),
        ("plugin", _plugin),
        ("guest image", _image),
        ("resources", lambda: _resources(scale)),
    ]
    return [_finding(subject, check) for subject, check in checks]


def _finding(subject: str, check: Callable[[], str]) -> Finding:
    try:
        return Finding(subject, True, check())
    except UserError as error:
        return Finding(subject, False, str(error))


def _tools() -> str:
    missing = [f"{tool} ({use})" for tool, use in TOOLS.items() if shutil.which(tool) is None]
    if missing:
        raise UserError(f"not found on PATH: {', '.join(missing)}; run `make setup`")
    return ", ".join(f"{tool} ({use})" for tool, use in TOOLS.items())


def _plugin() -> str:
    qemu = present_qemu()
    check_plugin(paths.PLUGIN, qemu)
    loader = f"QEMU {qemu.version} loads it" if qemu else "its libraries are installed"
    return f"{paths.PLUGIN} ({loader})"


def _image() -> str:
    manifest = load_image(paths.BUILD / "image" / "debian")
    return f"kernel {manifest.kernel_version}, {manifest.initramfs_bytes / 1e6:.0f} MB"


def _resources(scale: str) -> str:
    cores = host.cores()
    # The main job's checkpoints: a ready guest for each boot, and a warm one for each run of both mixes.
    mixes = [load_experiment(mix, {"scale": scale}) for mix in ("imapb", "imape")]
    boots = {boot for mix in mixes for boot in mix.boots}
    warm = sum(len(mix.boots) * len(mix.seeds) for mix in mixes)
    needed = resources.need(load_scale(scale), checkpoints=len(boots) + warm, at_once=cores)
    resources.require(needed, paths.checkpoints())
    disk, memory = resources.free_disk(paths.checkpoints()), resources.available_memory()
    return (
        f"scale {scale} needs up to {needed}; this host has {disk_size(disk)} of free disk and "
        f"{memory / resources.GIB:.1f} GiB of available memory; {counted(cores, 'core')}"
    )
