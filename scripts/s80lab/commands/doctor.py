# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab doctor`: one line per requirement of the default experiments, with a remedy if it is not met."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass

import typer

from s80lab.base import host, paths
from s80lab.base.errors import UserError
from s80lab.base.programs import built
from s80lab.commands.output import print_json
from s80lab.config.experiment import load_experiment, load_scale
from s80lab.experiment import resources
from s80lab.guest.qemu import describe_qemu
from s80lab.image.build import load_image


@dataclass(frozen=True)
class Finding:
    """The result of one check. text: what was found if `good`, else what to do."""

    subject: str
    good: bool
    text: str


def doctor_command(scale: str, as_json: bool) -> None:
    """Check whether this host can run the default experiments, and print a remedy for each requirement that is not met.

    The command only looks: it fetches, builds and writes nothing.
    """
    findings = examine(scale)
    if as_json:
        print_json([asdict(finding) for finding in findings])
    for finding in () if as_json else findings:
        print(f"{'ok  ' if finding.good else 'FAIL'} {finding.subject}: {finding.text}")
    if not all(finding.good for finding in findings):
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
    tools = ("setpriv", "cp", "mmdebstrap", "rumur", "cc")
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        raise UserError(f"{', '.join(missing)} not found on PATH: run `make setup`")
    return ", ".join(tools)


def _plugin() -> str:
    return str(built(paths.PLUGIN))


def _image() -> str:
    manifest = load_image(paths.BUILD / "image" / "debian")
    return f"kernel {manifest.kernel_version}, {manifest.initramfs_bytes / 1e6:.0f} MB"


def _resources(scale: str) -> str:
    cores = host.cores()
    # The main job's checkpoints: one ready guest, and a warm one for each seed of both mixes.
    warm = sum(len(load_experiment(mix, {"scale": scale}).seeds) for mix in ("imapb", "imape"))
    needed = resources.need(load_scale(scale), checkpoints=1 + warm, at_once=cores)
    resources.require(needed, paths.checkpoints())
    return f"scale {scale} needs up to {needed}; {cores} cores"
