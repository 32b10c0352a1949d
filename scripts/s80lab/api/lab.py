# SPDX-License-Identifier: GPL-2.0-or-later
"""Access to a lab folder: runs, captures, protocols, SQL queries, and replays of captures through other designs."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rich.console import Console

from s80lab.api.frames import frame, table
from s80lab.api.runs import Runs
from s80lab.api.warning import MisleadingMeanWarning
from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.progress import Board
from s80lab.base.store import Store
from s80lab.base.suggest import hint
from s80lab.capture.explore.grid import resolve_points
from s80lab.capture.explore.run import explore
from s80lab.capture.store import Capture, Form, Manifest, open_capture
from s80lab.config.grid import Grid
from s80lab.protocol.docs import known
from s80lab.protocol.proof import list_record, proven
from s80lab.protocol.show import state_table
from s80lab.protocol.table import Protocol, find_protocol, load_protocol
from s80lab.results.database import list_runs
from s80lab.results.metrics.registry import REGISTRY
from s80lab.results.query import names_apart, select
from s80lab.results.reference import result_runs
from s80lab.results.run_folder import RunFolder

if TYPE_CHECKING:
    import pandas

T = TypeVar("T")


class Lab:
    """Access to a lab: without an argument the lab that the command `s80lab` uses, else the lab in the given folder.

    Errors raise `s80lab.base.errors.UserError`, whose text says what is wrong and what to do.

    >>> from s80lab import Lab
    >>> lab = Lab()
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        self._own = folder is None
        self.results = paths.results() if folder is None else Path(folder) / "results"
        captures = paths.captures() if folder is None else Path(folder) / "captures"
        self._captures = Store(lambda: captures, Manifest)

    def __repr__(self) -> str:
        return f"Lab({str(self.results.parent)!r})"

    @property
    def database(self) -> Path:
        """The path of the SQLite database."""
        return self.results / paths.database().name

    def runs(self, *experiments: str, **where: object) -> Runs:
        """Complete runs of these experiments (all experiments if none is named), oldest first.

        Keyword arguments select runs by columns of the table `run`: scale="small", seed=2, boot=1, machine="s80",
        protocol="moesi", engine="qemu", status="valid".

        >>> lab.runs("imapb", seed=1)
        Runs(imapb-1)
        >>> len(lab.runs())
        6
        """
        rows = list_runs(self.database)
        for column in where:
            if rows and column not in rows[0]:
                raise UserError(
                    f"runs() cannot select by `{column}`: the table `run` has no column `{column}`: "
                    f"{hint(column, rows[0])}"
                )
        return Runs(
            [
                self.results / row["folder"]
                for row in rows
                if (not experiments or row["experiment"] in experiments)
                and all(row[column] == value for column, value in where.items())
                and (self.results / row["folder"]).is_dir()
            ]
        )

    def reference(self, name: str = "small") -> Runs:
        """The runs of a reference result, which is shipped with s80lab, ordered by experiment, boot and seed.

        >>> lab.reference("small").frame("l2_mpki.all")["boot"].to_list()[:3]
        [1, 2, 3]
        """
        return Runs(sorted(result_runs(name), key=_place))

    def query(self, sql: str) -> pandas.DataFrame:
        """The result of read-only SQL on the database; docs/reference/database.md lists tables and views.

        A mean or sum that pools runs of several designs gives a MisleadingMeanWarning.

        >>> lab.query("SELECT workload, count(*) AS runs FROM run GROUP BY workload")
          workload  runs
        0    imapb     3
        1    imape     3
        """
        columns, rows, remark, _ = select(self.database, sql)
        names_apart(columns)
        if remark:
            warnings.warn(remark, MisleadingMeanWarning, stacklevel=2)
        return table(columns, rows)

    def metrics(self) -> pandas.DataFrame:
        """All metrics: name, unit, description and formula.

        >>> lab.metrics().set_index("name").loc["e_share", "unit"]
        'share'
        """
        keys = ("name", "unit", "description", "formula")
        return frame({key: getattr(metric, key) for key in keys} for metric in REGISTRY.values())

    def protocols(self) -> pandas.DataFrame:
        """The coherence protocols in configs/protocols. Column proven: whether this host has a stored proof of the
        table.

        >>> lab.protocols().set_index("name").loc["mesi", "states"]
        'M E S I'
        """
        tables = [load_protocol(path) for path in known()]
        return frame({**list_record(one.name, one, proven(one)), "states": " ".join(one.states)} for one in tables)

    def protocol(self, name: str) -> Protocol:
        """A protocol by its name or by the path of its file.

        >>> lab.protocol("moesi").remote.read["M"].next
        'O'
        """
        return load_protocol(find_protocol(name))

    def state_table(self, name: str) -> pandas.DataFrame:
        """A protocol as a table with one row per state and one column per event.

        >>> lab.state_table("msi").index.to_list()
        ['M', 'S', 'I']
        """
        content = state_table(self.protocol(name))
        shown = table(content.columns, [cells for _, cells in content.rows])
        shown.index = [state for state, _ in content.rows]
        return shown

    def captures(self) -> pandas.DataFrame:
        """The captures (recorded access streams), one row per capture and form (full or filtered).

        >>> lab.captures().empty
        True
        """
        keys = ("name", "experiment", "scale", "seed", "start", "skip", "measure")
        return frame(
            {**{key: getattr(one, key) for key in keys}, "form": form, "bytes": totals.bytes, "events": totals.events}
            for one in self._captures.all()
            for form, totals in one.forms.items()
        )

    def capture(self, name: str, form: Form | None = None) -> Capture:
        """A capture by the beginning of its name or by the path of a .s80c file."""
        return open_capture(name, form, self._captures)

    def explore(self, capture: str, *vary: str, settings: Sequence[str] = (), jobs: int = 0) -> Runs:
        """Replay a capture through every design of a grid, like `s80lab explore`; return the runs in the order of the
        grid.

        Existing replays are reused.

        capture: the beginning of a capture's name, or the path of a .s80c file.
        vary: axes of the grid, for example "protocol=mesi,moesi" and "l2.size=1MiB..8MiB".
        settings: values of the machine file for all designs, for example "l1d.size=64KiB".
        jobs: number of replays that run in parallel; 0: one per host core.
        """
        if not self._own:
            raise UserError(
                "explore() works only in the lab that the command `s80lab` uses: create Lab() without a "
                "folder, and set $S80LAB_HOME to the folder of the lab"
            )
        opened = self.capture(capture)
        points = resolve_points(opened, Grid.parse(vary), None, settings)
        with Board(Console(stderr=True)) as board:
            return Runs(_finish(explore(opened, [point.design for point in points], board, jobs)))


def _finish(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine and return its result. This also works in notebooks, in which an event loop runs already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as other:
        return other.submit(asyncio.run, work).result()


def _place(folder: Path) -> tuple[str, int, int, str]:
    manifest = RunFolder(folder).manifest
    return manifest["experiment"], manifest.get("boot", 1), manifest["seed"], folder.name
