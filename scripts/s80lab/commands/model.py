# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab model`: closed-form models."""

from __future__ import annotations

from s80lab.base.errors import UserError
from s80lab.base.format import ABSENT
from s80lab.commands.line.compare import LatencyArguments
from s80lab.commands.output import print_json, wide_console
from s80lab.report.tables import Cell, Row, Table
from s80lab.report.terminal import print_table
from s80lab.results.study import Platform, load_latency_study

STUDY = "KFUPM 2003"


def latency(args: LatencyArguments) -> None:
    """Calculate the peak throughput of a server from the number of times that it moves each byte (latency model of the
    KFUPM study of 2003)."""
    for name, value in (("--bi", args.bi), ("--be", args.be)):
        if value is not None and not 0 < value < float("inf"):
            raise UserError(f"{name} {value:g}: write a positive bandwidth in MB/s, for example 3200")
    study = load_latency_study()
    network = args.be or study.be
    platforms = [*study.platforms, *([Platform(name=f"{args.bi:g} MB/s", bi=args.bi)] if args.bi else [])]
    if args.as_json:
        print_json(
            [
                {"platform": one.name, "bi": one.bi, "be": network, "stated": one.stated}
                | {"peak_mbit": {app.name: app.peak_mbit(one.bi, network) for app in study.applications}}
                for one in platforms
            ]
        )
        return
    table = Table(
        "Peak throughput, Mbit/s",
        tuple(column for one in study.applications for column in (one.name, STUDY)),
        note=f"Each column {STUDY} has the number of that study. A transfer of S bytes takes n1 S / (32 Bi) + n2 2 S / "
        f"Bi + n4 S / Be: Bi is the bandwidth of the memory bus, and Be = {network:g} MB/s that of the bus to the "
        "network adapter. The application moves each byte n1 times from memory to a cache, n2 times from memory to "
        "memory, and n4 times over the network (studies/throughput/latency.toml).",
    )
    for one in platforms:
        stated = [str(number) for number in one.stated] or [ABSENT] * len(study.applications)
        pairs = zip(study.applications, stated, strict=True)
        cells = [text for app, says in pairs for text in (f"{app.peak_mbit(one.bi, network):.0f}", says)]
        table.rows.append(Row(f"{one.name} (Bi {one.bi:g} MB/s)", tuple(map(Cell, cells))))
    print_table(table, wide_console())
