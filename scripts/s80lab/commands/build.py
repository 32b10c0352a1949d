# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab image build` and `s80lab checkpoint build`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from s80lab.base.strict import parse_settings
from s80lab.commands.changes import Changes
from s80lab.commands.parts import make_plans, parse_seeds, run_gem5, run_pipeline
from s80lab.commands.programs import build_guests, refuse, saved_files
from s80lab.config.experiment import DEFAULT_IMAGE
from s80lab.experiment.plan import Options
from s80lab.image.buildroot.image import Choice
from s80lab.image.choice import make_image


def build_image(
    server: str,
    refresh: bool,
    image: str | None,
    buildroot: Path | None,
    downloads: Path | None,
    fragment: list[Path] | None,
) -> None:
    """Build the guest image with a server."""
    name = image or ("buildroot" if buildroot else DEFAULT_IMAGE)
    make_image(name, server, Choice(buildroot, downloads, tuple(fragment or ())), refresh=refresh, progress=print)


def build_checkpoints(
    experiments: list[str],
    stage: Literal["ready", "warm"],
    machine: str | None,
    protocol: str | None,
    server: str | None,
    image: str | None,
    scale: str | None,
    seeds: str | None,
    settings: list[str] | None,
    jobs: int,
    engine: Literal["qemu", "gem5"],
    gem5: Path | None,
) -> None:
    """Build the checkpoints of experiments up to a stage."""
    if files := saved_files(experiments):
        refuse({"--scale": scale, "--seeds": seeds, "--engine gem5": engine == "gem5"})
        build_guests(files, Changes(machine, protocol, server, image, tuple(settings or ())), jobs)
        return
    chosen = parse_settings(settings or [])
    options = Options(machine, protocol, scale, parse_seeds(seeds), chosen, server=server, image=image)
    if engine == "gem5":
        run_gem5(experiments, options, gem5, jobs, False, stage)
    else:
        run_pipeline(make_plans(experiments, options), jobs, False, stage)
