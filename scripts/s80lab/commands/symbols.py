# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab image symbols`: fetches debug symbols."""

from __future__ import annotations

from s80lab.analysis.misses.debug_files import debug_roots
from s80lab.analysis.misses.debug_packages import debian_sources, fetch_debug_files
from s80lab.base.strict import shown
from s80lab.base.terminal import counted
from s80lab.commands.line.images import ImageSymbolsArguments
from s80lab.config.experiment import DEFAULT_IMAGE
from s80lab.image.build import image_folder

_LISTED = 8


def image_symbols(args: ImageSymbolsArguments) -> None:
    """Fetch the debug files of the programs of Debian's image with a server."""
    out = debug_roots()[0]
    image = image_folder(DEFAULT_IMAGE, args.server)
    found = fetch_debug_files(image, out, debian_sources(), kernel=args.kernel, progress=print)
    print(f"{counted(len(found.packages), 'package')} fetched into {shown(out)}")
    if found.missing:
        rest = len(found.missing) - _LISTED
        more = f" and {rest} more" if rest > 0 else ""
        print(f"without debug symbols: {', '.join(found.missing[:_LISTED])}{more}")
