# SPDX-License-Identifier: GPL-2.0-or-later
"""Which builder makes an image: its name says it."""

from __future__ import annotations

from collections.abc import Callable

from s80lab.base.errors import UserError
from s80lab.config.experiment import DEFAULT_IMAGE, image_name
from s80lab.config.server import load_server
from s80lab.image.build import ImageManifest, build_image, image_folder
from s80lab.image.buildroot.image import Choice, build_buildroot_image


def make_image(
    image: str,
    server: str,
    choice: Choice | None = None,
    *,
    refresh: bool = False,
    progress: Callable[[str], None],
) -> ImageManifest:
    """Build the named image with that server unless it is up to date. choice: of Buildroot's images alone. UserError
    for what is no image, and for options of another kind's."""
    try:
        folder = image_folder(image_name(image), server)
    except ValueError as error:
        raise UserError(str(error)) from None
    if image != DEFAULT_IMAGE:
        if refresh:
            raise UserError(f"--refresh records Debian's packages; image {image} is of Buildroot: leave it away")
        return build_buildroot_image(folder, load_server(server), choice or Choice(), progress=progress)
    if choice is not None and choice != Choice():
        raise UserError(
            f"image {image} is of Debian's packages: --buildroot, --downloads and --fragment are for `buildroot` and "
            "`buildroot.NAME` (--image)"
        )
    return build_image(folder, load_server(server), refresh=refresh, progress=progress)
