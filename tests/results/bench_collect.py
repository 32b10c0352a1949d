# SPDX-License-Identifier: GPL-2.0-or-later
"""What `s80lab collect` takes for 1,000 designs of ten hosts: `python -m tests.results.bench_collect`.

The runs are copies of one real replay under other names, so their size is what an exploration leaves.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tests.capture.conftest import write_capture
from tests.lab import Lab

HOSTS = 10


def main(designs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        one = Lab(root / "checkpoints", root / "one" / "results")
        one.call("explore", str(write_capture(root / "drawn.s80c")), "--vary", "l2.size=64KiB", "--shard", "1/1")
        (run,) = one.runs()
        manifest = json.loads((run / "manifest.json").read_text())
        for number in range(designs):
            name = f"{run.name[:-8]}{number:08x}"
            copy = root / f"host{number % HOSTS}" / "results" / "runs" / name
            shutil.copytree(run, copy)
            (copy / "manifest.json").write_text(json.dumps(manifest | {"run": name}))
        lab = Lab(root / "checkpoints", root / "lab" / "results")
        hosts = [str(root / f"host{number}" / "results") for number in range(HOSTS)]
        for what in ("first", "second"):
            began = time.monotonic()
            said = lab.call("collect", *hosts)
            print(f"{what} time, {time.monotonic() - began:.1f} s: {said.strip()}")
        print(f"database: {(lab.results / 's80lab.sqlite').stat().st_size / 1e6:.0f} MB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
