# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a page and its figures as files: report.html and figures/."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from s80lab.report.figures.all import Picture
from s80lab.report.figures.style import standalone

PAGE = "report.html"


def write_files(folder: Path, page: str, pictures: Iterable[Picture], pngs: Mapping[str, bytes] | None = None) -> Path:
    """Writes page (HTML) to report.html, each picture to figures/NAME.svg and each of `pngs` to figures/NAME.png.
    Creates the folder if it does not exist. Returns the page's path."""
    figures = folder / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    for picture in pictures:
        (figures / f"{picture.name}.svg").write_text(standalone(picture.svg), encoding="utf-8")
    for name, png in (pngs or {}).items():
        (figures / f"{name}.png").write_bytes(png)
    target = folder / PAGE
    target.write_text(page, encoding="utf-8")
    return target
