# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether live runs and replays of the working tree and of another commit are the same: `make same BASE=COMMIT`.

Under each shipped protocol, the plugins of both sides measure a region from one ready checkpoint: the snapshots of the
region must have the same bytes. The base also writes a full and a filtered capture, which the programs of both sides
replay.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from tests.bench.against import Side, both_sides
from tests.experiment.short_region import short_region

from s80lab.base import paths
from s80lab.commands.pipeline import make_plans, run_pipeline
from s80lab.experiment import checkpoint
from s80lab.experiment.plan import Options
from s80lab.protocol.docs import on_a_bus

MEASURE, INTERVAL = 60_000_000, 20_000_000
FORMS = ("full", "filtered")
SNAPSHOTS = "snapshots.jsonl"


def differing(base: Side, head: Side, folder: Path) -> Iterator[tuple[str, bool]]:
    """The name of each result, and whether it differs between the sides."""
    for protocol in sorted(file.stem for file in on_a_bus() if _is_in_base(file)):
        plans = make_plans(["imapb"], Options(protocol=protocol, scale="tiny", seeds=[1]))
        run_pipeline(plans, 1, False, "ready")
        ready = checkpoint.find(plans[0].keys.ready.name, plans[0].keys.ready.key)
        assert ready is not None
        captures = {form: folder / f"{protocol}-{form}.s80c" for form in FORMS}
        written = {f"capture_{form}": path for form, path in captures.items()}
        contents = []
        for name, side, arguments in (("base", base, written), ("head", head, {})):
            run = folder / f"{protocol}-{name}"
            short_region(replace(plans[0], plugin=side.plugin), ready, run, MEASURE, INTERVAL, arguments)
            contents.append(snapshots(run))
        yield f"guest under {protocol}", contents[0] != contents[1]
        inputs = {key: folder / f"{protocol}-base" / f"{key}.toml" for key in ("machine", "protocol")}
        for form, capture in captures.items():
            replays = [replayed(side, capture, inputs) for side in (base, head)]
            yield f"replay of a {form} capture under {protocol}", replays[0] != replays[1]
            capture.unlink()


def _is_in_base(table: Path) -> bool:
    """Whether both sides have the protocol: programs of another commit may not read today's table."""
    there = paths.BUILD / "bench" / "base-source" / table.relative_to(paths.ROOT)
    if there.is_file() and tomllib.loads(there.read_text()) == tomllib.loads(table.read_text()):
        return True
    print(f"{table.stem}: left out, because the base has another table, or none", flush=True)
    return False


def snapshots(run: Path) -> bytes:
    """The snapshots up to the end of the measured region. The host decides when a live run exits."""
    lines = (run / SNAPSHOTS).read_bytes().splitlines(keepends=True)
    marks = [json.loads(line).get("mark") for line in lines]
    return b"".join(lines[: marks.index("measure_end") + 1])


def replayed(side: Side, capture: Path, inputs: Mapping[str, Path]) -> bytes:
    """The snapshots of a replay."""
    with tempfile.TemporaryDirectory(dir=capture.parent) as out:
        keys = {"capture": capture, "out": out, **inputs}
        words = [str(side.replay), *(f"{key}={value}" for key, value in keys.items())]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return snapshots(Path(out))


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare results of the working tree with another commit.")
    parser.add_argument("base", help="commit to compare with")
    base, head = both_sides(parser, parser.parse_args().base)
    code = 0
    with tempfile.TemporaryDirectory(prefix="same-", dir=paths.BUILD) as folder:
        for name, differs in differing(base, head, Path(folder)):
            print(f"{name}: {'DIFFERS' if differs else 'the same'}", flush=True)
            code |= differs
    parser.exit(code)


if __name__ == "__main__":
    main()
