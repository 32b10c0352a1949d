# SPDX-License-Identifier: GPL-2.0-or-later
"""Names that shell completion offers.

Most come from the names of files. Figures are read from their file, and keys of --set and --vary come from the models
of the configuration files, which are imported only when such a key is completed.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import typer

from s80lab.base import paths
from s80lab.base.suggest import names
from s80lab.base.vocabulary import LABELS

SHARES = ("memory", *LABELS["state"], "e", "e-to-m", "upgrades-saved", "kernel")
"""Values of --of."""


def _names_in(folder: Path) -> Callable[[], list[str]]:
    """A function that returns the names of the files in a folder of configuration files."""
    return lambda: names(folder)


experiments = _names_in(paths.EXPERIMENTS)
machines = _names_in(paths.MACHINES)
protocols = _names_in(paths.PROTOCOLS)
scales = _names_in(paths.SCALES)
servers = _names_in(paths.SERVERS)
workloads = _names_in(paths.PROFILES)


def lessons() -> list[str]:
    """Names of the shipped traces."""
    return sorted(file.stem for file in paths.LESSONS.glob("*.trace"))


def runs() -> list[str]:
    """Names of the complete runs of this lab."""
    return sorted(folder.name for folder in paths.runs().glob("[!.]*") if folder.is_dir())


def captures(incomplete: str = "") -> list[str]:
    """Names of captures, and the .s80c files in the folder that `incomplete` names."""
    folder = incomplete[: incomplete.rfind("/") + 1]
    return _entries(paths.captures()) + sorted(f"{folder}{file.name}" for file in Path(folder).glob("*.s80c"))


def figures() -> list[str]:
    """Names of the figures and tables of `s80lab reproduce`."""
    content = tomllib.loads((paths.ROOT / "configs" / "reproduce.toml").read_text(encoding="utf-8"))
    return [figure["name"] for figure in content["figures"]] + ["paper", "studies", "throughput"]


def images() -> list[str]:
    """Names of images: the two that need no name of their own, and the named ones that have been built."""
    named = {path.name.partition("-")[0] for path in (paths.BUILD / "image").glob("buildroot.*")}
    return ["debian", "buildroot", *sorted(named)]


def seeds() -> list[str]:
    """Examples of the form. Without them, the shell offers files."""
    return ["1", "1,2,3"]


def shares(incomplete: str = "") -> list[str]:
    """Lists of shares: those that are complete, with each share in the last place."""
    before = incomplete[: incomplete.rfind(",") + 1]
    return [before + share for share in SHARES if share not in before.split(",")]


def machine_settings() -> list[str]:
    """Keys of a machine file, with an equals sign."""
    from s80lab.base.strict import dotted_keys
    from s80lab.config.machine import Machine

    return [f"{key}=" for key in dotted_keys(Machine) if key not in ("name", "description", "provenance", "protocol")]


def settings() -> list[str]:
    """Keys of a machine file and of a scale, with an equals sign."""
    from s80lab.base.strict import dotted_keys
    from s80lab.config.experiment import Scale

    return machine_settings() + [f"scale.{key}=" for key in dotted_keys(Scale) if key != "description"]


def axes() -> list[str]:
    """Keys of --vary, with an equals sign."""
    return ["protocol=", "machine=", "cores=", *machine_settings()]


def entries(ctx: typer.Context) -> list[str]:
    """Names of checkpoints after `s80lab checkpoint`, of captures after `s80lab captures`."""
    return _entries(paths.checkpoints() if ctx.command_path.split()[-2] == "checkpoint" else paths.captures())


def references() -> list[str]:
    """Names of reference results."""
    from s80lab.results.reference import result_names

    return result_names()


def _entries(store: Path) -> list[str]:
    return sorted(manifest.stem for manifest in store.glob("[!.]*.json"))
