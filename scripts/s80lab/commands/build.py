# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab image build`, `s80lab image symbols` and `s80lab checkpoint build`."""

from __future__ import annotations

from s80lab.analysis.misses.debug_files import debug_roots
from s80lab.analysis.misses.debug_packages import debian_sources, fetch_debug_files
from s80lab.base.strict import short_path
from s80lab.base.terminal import counted
from s80lab.commands.changes import Changes
from s80lab.commands.line.images import CheckpointBuildArguments, ImageBuildArguments, ImageSymbolsArguments
from s80lab.commands.numbers import parse_seeds
from s80lab.commands.pipeline import make_plans, run_gem5, run_pipeline
from s80lab.commands.program_plans import refuse, saved_files
from s80lab.commands.programs import build_guests
from s80lab.config.experiment import DEFAULT_IMAGE
from s80lab.image.build import image_folder
from s80lab.image.buildroot.image import Choice
from s80lab.image.choice import make_image


def build_image(args: ImageBuildArguments) -> None:
    """Build the guest image with a server."""
    name = args.image or ("buildroot" if args.buildroot else DEFAULT_IMAGE)
    make_image(
        name,
        args.server,
        Choice(args.buildroot, args.downloads, tuple(args.fragment or ())),
        refresh=args.refresh,
        progress=print,
    )


def build_checkpoints(args: CheckpointBuildArguments) -> None:
    """Build the checkpoints of experiments up to a stage."""
    changes = Changes(args.machine, args.protocol, args.server, args.image, tuple(args.settings or ()))
    if files := saved_files(args.experiments):
        refuse({"--scale": args.scale, "--seeds": args.seeds, "--engine gem5": args.engine == "gem5"})
        build_guests(files, changes, args.jobs)
        return
    options = changes.options(args.scale, parse_seeds(args.seeds))
    if args.engine == "gem5":
        run_gem5(args.experiments, options, args.gem5, args.jobs, False, args.stage)
    else:
        run_pipeline(make_plans(args.experiments, options), args.jobs, False, args.stage)


_LISTED = 8


def image_symbols(args: ImageSymbolsArguments) -> None:
    """Fetch the debug files of the programs of Debian's image with a server."""
    out = debug_roots()[0]
    image = image_folder(DEFAULT_IMAGE, args.server)
    found = fetch_debug_files(image, out, debian_sources(), kernel=args.kernel, progress=print)
    print(f"{counted(len(found.packages), 'package')} fetched into {short_path(out)}")
    if found.missing:
        rest = len(found.missing) - _LISTED
        more = f" and {rest} more" if rest > 0 else ""
        print(f"without debug symbols: {', '.join(found.missing[:_LISTED])}{more}")
