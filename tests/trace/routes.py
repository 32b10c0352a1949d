# SPDX-License-Identifier: GPL-2.0-or-later
"""Random text traces, and their routes through two formats with the commands that the exports print.

`python -m tests.trace.routes SEEDS` takes each of SEEDS traces through every pair of formats, and prints how many
routes kept all counts, and which formats could not hold which trace.
"""

from __future__ import annotations

import random
import shlex
import sys
import tempfile
from collections import Counter
from pathlib import Path

from typer.testing import CliRunner

from s80lab.commands.line.app import app
from s80lab.trace import source, tool
from s80lab.trace.source import FORMS, Wanted

AGAIN = "import it again: s80lab trace import "
LACKS = "is another trace: "
SPACED = "--spacing spaced keeps it"
PROTOCOLS = ("msi", "mesi", "moesi", "mesif", "hammer")


def random_trace(seed: int) -> str:
    """A text trace of 1 to 16 processors with a header: machine, protocol, line size and other settings."""
    draw = random.Random(seed)
    processors, line = draw.randint(1, 16), draw.choice((32, 64, 128, 256))
    ways = draw.choice((1, 2, 4))
    settings = [f"processors.count={processors}", "processors.threads_per_core=1", f"line_bytes={line}"]
    settings += [f"{cache}.ways={draw.choice((1, 2))}" for cache in ("l1i", "l1d")]
    settings += [f"{cache}.size={line * draw.choice((2, 4))}" for cache in ("l1i", "l1d")]
    settings += [f"l2.ways={ways}", f"l2.size={line * ways * draw.choice((2, 4, 8))}"]
    settings += [f"latency.memory={draw.randint(20, 400)}"] if draw.random() < 0.5 else []
    settings += ["replacement.policy=plru"] if draw.random() < 0.3 else []
    head = [f"# Trace {seed}", f"# set: {' '.join(settings)}"]
    head += [f"# machine: {draw.choice(('classroom', 's80', 'pe4600'))}"]
    head += [f"# protocol: {draw.choice(PROTOCOLS)}"] if draw.random() < 0.8 else []
    kinds = ("load", "store") if draw.random() < 0.4 else ("load", "store", "ifetch")
    in_turn = draw.random() < 0.5  # an order that formats without times hold
    accesses = [
        f"{number % processors if in_turn else draw.randrange(processors)} {draw.choice(kinds)} "
        f"{draw.randrange(line * 24):#x}"
        for number in range(draw.randint(20, 120))
    ]
    return "\n".join([*head, *accesses]) + "\n"


def run(*words: str) -> tuple[int, str]:
    """Exit code and output of `s80lab trace WORDS`."""
    done = CliRunner().invoke(app, ["trace", *words])
    complaint = str(done.exception) if done.exception is not None else ""
    return done.exit_code, done.output + complaint


def step(trace: Path, form: str, folder: Path) -> tuple[Path | None, str]:
    """Export a trace and import it again as the export says: the capture; or None and what the format does not hold."""
    out = folder / f"out.{form}" if form in ("text", "order") else folder / form
    if form == "text":
        out = out.with_suffix(".trace")
    code, said = run("export", str(trace), "--format", form, "--out", str(out))
    if LACKS in said and SPACED in said:
        code, said = run("export", str(trace), "--format", form, "--out", str(out), "--spacing", "spaced")
    if code != 0 or LACKS in said:
        assert f"the format {form} " in said, said
        assert LACKS in said or "cannot hold" in said, said
        return None, said.rpartition("the format ")[2].split(";")[0].split(", which")[0].strip()
    words = shlex.split(said.partition(AGAIN)[2].splitlines()[0])
    capture = folder / f"{form}.s80c"
    words[words.index("NAME.s80c")] = str(capture)
    code, said = run("import", *words)
    assert code == 0, said
    return capture, ""


def counts(trace: Path) -> dict[str, int]:
    """All counts of a trace with the machine and protocol that it names."""
    loaded = source.load(trace, Wanted())
    return tool.counts(loaded.order, loaded.setup)


def route(trace: Path, first: str, second: str, folder: Path) -> str:
    """Take the trace through both formats. Empty if all counts stayed the same, else what a format does not hold."""
    expected, at = counts(trace), trace
    for number, form in enumerate((first, second)):
        inside = folder / f"{first}-{second}-{number}"
        inside.mkdir()
        captured, lacks = step(at, form, inside)
        if captured is None:
            return lacks
        assert counts(captured) == expected, f"{trace} by {first} and {second}: other counts after {form}"
        at = captured
    return ""


def main(seeds: int) -> None:
    """Every pair of formats for each seed."""
    results = Counter[str]()
    with tempfile.TemporaryDirectory() as name:
        for seed in range(seeds):
            folder = Path(name) / str(seed)
            folder.mkdir()
            trace = folder / "random.trace"
            trace.write_text(random_trace(seed))
            for first in FORMS:
                for second in FORMS:
                    results[route(trace, first, second, folder)] += 1
    print(f"{results.pop('', 0)} routes of {seeds} traces kept all counts")
    for lacks, number in results.most_common():
        print(f"{number} routes were refused: the format {lacks}")


if __name__ == "__main__":
    main(int(sys.argv[1]))
