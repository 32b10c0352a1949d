# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a page and its figures as files: report.html and figures/. Each file is written completely or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from s80lab.base.files import write_file
from s80lab.report.figures.all import FIGURES, Picture
from s80lab.report.figures.style import standalone
from s80lab.results.run_folder import REPORT


def write_files(folder: Path, page: str, pictures: Iterable[Picture], pngs: Mapping[str, bytes] | None = None) -> Path:
    """Writes page (HTML) to report.html, each picture to figures/NAME.svg and each of `pngs` to figures/NAME.png.
    Creates the folder if it does not exist. Returns the page's path. UserError if a file cannot be written."""
    figures = folder / FIGURES
    for picture in pictures:
        write_file(figures / f"{picture.name}.svg", standalone(picture.svg))
    for name, png in (pngs or {}).items():
        write_file(figures / f"{name}.png", png)
    target = folder / REPORT
    write_file(target, page)
    return target
