# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab checkpoint|captures export` and `import`: from one host to another."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from s80lab.base.store import M, Store
from s80lab.base.strict import shown
from s80lab.base.transfer import export, take_in


def add_transfer_commands(app: typer.Typer, store: Store[M], noun: str) -> None:
    """export and import of a store."""

    @app.command("export", help=f"Puts a {noun} with its hashes where another host can take it in.")
    def export_one(
        name: Annotated[str, typer.Argument(help="Its name, or the beginning of it.")],
        target: Annotated[Path, typer.Argument(help="A folder, or a file that ends in .tar.")],
    ) -> None:
        print(f"exported to {shown(export(store, name, target))}")

    @app.command("import", help=f"Takes in an exported {noun}; every file is hashed again.")
    def import_one(
        sources: Annotated[list[Path], typer.Argument(help="Exported folders, or .tar files.")],
    ) -> None:
        for source in sources:
            name, new = take_in(
                store, source, lambda: print("waiting for another process that makes it", file=sys.stderr)
            )
            print(f"{name}: {'taken in' if new else 'was there already'}")
