# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab checkpoint|captures export` and `import`: move checkpoints and captures between hosts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from s80lab.base.store import M, Store
from s80lab.base.strict import shown
from s80lab.base.transfer import export, take_in


def add_transfer_commands(app: typer.Typer, store: Store[M], noun: str) -> None:
    """Add the commands export and import for a store."""

    @app.command(
        "export", help=f"Copy a {noun} and the hashes of its files to a folder or tar file, for import on another host."
    )
    def export_one(
        name: Annotated[str, typer.Argument(help="Name of the entry, or the beginning of its name.")],
        target: Annotated[
            Path, typer.Argument(help="Folder to write the copy into, or a file name that ends in .tar.")
        ],
    ) -> None:
        print(f"exported to {shown(export(store, name, target))}")

    @app.command(
        "import", help=f"Import a {noun} that was exported on another host. The hash of every file is checked."
    )
    def import_one(
        sources: Annotated[list[Path], typer.Argument(help="Folders or .tar files that `export` wrote.")],
    ) -> None:
        for source in sources:
            name, new = take_in(
                store, source, lambda: print(f"waiting for another process that builds this {noun}", file=sys.stderr)
            )
            print(f"{name}: {'imported' if new else 'exists already'}")
