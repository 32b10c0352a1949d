# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands on guest images and checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from s80lab.commands.line import complete
from s80lab.commands.line.declare import Arguments, Section, option
from s80lab.commands.line.options import (
    Engine,
    Experiments,
    Gem5,
    Image,
    Jobs,
    Machine,
    Protocol,
    Scale,
    Seeds,
    Server,
    Settings,
)
from s80lab.commands.line.stores import declare_store

SECTION = Section("Images and checkpoints")

SECTION.group("image", "Build the guest image: its kernel and its programs.")


@SECTION.command(
    "image build",
    "build:build_image",
    "s80lab image build",
    "s80lab image build --server dovecot --image buildroot --buildroot ~/buildroot",
)
class ImageBuildArguments(Arguments):
    """Build the guest image with a server.

    If an up-to-date image exists, the command does nothing.

    Costs: 2 to 5 minutes on 2 cores for Debian's packages, which come from the network, and 40 MB of disk. Buildroot
    compiles everything, which takes much longer (docs/guides/buildroot.md).
    """

    server: str = option(
        "dovecot", "Server in the image: a name in workloads/servers.", metavar="NAME", autocompletion=complete.servers
    )
    refresh: bool = option(
        False,
        "Rebuild even if the image is up to date, and record the versions of the Debian packages in "
        "disk-images/debian/versions.",
    )
    image: str | None = option(
        None,
        "Name of the image: debian (from Debian packages), or buildroot or buildroot.NAME (from your own "
        "Buildroot). Default: debian; with --buildroot: buildroot.",
        metavar="NAME",
        autocompletion=complete.images,
    )
    buildroot: Path | None = option(
        None, "Folder with Buildroot's sources. Default: $BUILDROOT. See docs/guides/buildroot.md.", metavar="DIR"
    )
    downloads: Path | None = option(
        None,
        "Folder with all source archives that Buildroot needs. With this option, Buildroot downloads nothing.",
        metavar="DIR",
    )
    fragment: list[Path] | None = option(
        None,
        "File with Buildroot options that replace options of the image's configuration. May be "
        "repeated: later files replace options of earlier ones.",
        metavar="FILE",
    )


@SECTION.command(
    "image symbols", "build:image_symbols", "s80lab image symbols", "s80lab image symbols --server uw --kernel"
)
class ImageSymbolsArguments(Arguments):
    """Fetch Debian's debug symbols for the programs of an image.

    With debug symbols, `s80lab misses` and `s80lab profile` show the names of all functions, and `s80lab misses` shows
    lines of the source. The packages come from the mirror of the host's own apt sources, and must have the versions of
    the image's packages. The files are kept in build/debug. Files that Debian's packages of debug symbols have
    installed under /usr/lib/debug need not be fetched.
    """

    server: str = option(
        "dovecot", "Server in the image: a name in workloads/servers.", metavar="NAME", autocompletion=complete.servers
    )
    kernel: bool = option(
        False, "Also fetch the kernel with line numbers: 280 MB to fetch, 590 MB on disk.", "--kernel"
    )


SECTION.group("checkpoint", "Build, list, verify, move and remove checkpoints.")


@SECTION.command(
    "checkpoint build",
    "build:build_checkpoints",
    "s80lab checkpoint build imapb imape",
    "s80lab checkpoint build quick --stage ready",
)
class CheckpointBuildArguments(Arguments):
    """Build those checkpoints of experiments that do not exist yet.

    `s80lab run` builds missing checkpoints, too.

    Costs: each checkpoint takes 1.5 GB of disk at scale small and 5.4 GB at paper. There is one ready
    checkpoint per guest and one warm checkpoint per seed. A warm checkpoint at scale small takes 2 to 4 minutes of one
    core.
    """

    experiments: Experiments
    stage: Literal["ready", "warm"] = option(
        "warm",
        "Last checkpoint to build. ready: the guest has booted and its clients are logged in; warm: the load "
        "is in steady state (this includes ready).",
    )
    machine: Machine = None
    protocol: Protocol = None
    server: Server = None
    image: Image = None
    scale: Scale = None
    seeds: Seeds = None
    settings: Settings = None
    jobs: Jobs = 0
    engine: Engine = "qemu"
    gem5: Gem5 = None


declare_store(SECTION, "checkpoint", "checkpoint", "warm-imapb-small-s1")
