# SPDX-License-Identifier: GPL-2.0-or-later
"""Selects the builder of an image from the image's name."""

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
    """Build the named image with that server unless it is up to date. choice: for images of Buildroot only. UserError:
    the name is not an image, or an option belongs to another kind of image."""
    try:
        folder = image_folder(image_name(image), server)
    except ValueError as error:
        raise UserError(str(error)) from None
    if image != DEFAULT_IMAGE:
        if refresh:
            raise UserError(
                f"--refresh records Debian's packages, but image {image} is built with Buildroot: remove --refresh"
            )
        return build_buildroot_image(folder, load_server(server), choice or Choice(), progress=progress)
    if choice is not None and choice != Choice():
        raise UserError(
            f"image {image} is built from Debian's packages; --buildroot, --downloads and --fragment require "
            "--image buildroot or --image buildroot.NAME"
        )
    return build_image(folder, load_server(server), refresh=refresh, progress=progress)
