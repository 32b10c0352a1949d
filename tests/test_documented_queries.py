# SPDX-License-Identifier: GPL-2.0-or-later
"""Every SQL query of README, docs and help, executed. The expected values come from stats.json."""

from __future__ import annotations

import itertools
import json
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from tests.console import Command, examples, run
from tests.lab import LIMIT_S, Lab

from s80lab.base import paths
from s80lab.results.database import insert_runs
from s80lab.results.metrics.derive import REGISTRY
from s80lab.results.query import select
from s80lab.results.reference import result_runs, unpacked

QUERY = re.compile(r"""s80lab query \\?"(.+?)\\?"|lab\.query\("(.+?)"\)""")
PAGE = paths.ROOT / "docs" / "reference" / "database.md"


@dataclass(frozen=True)
class Stored:
    """A run as its files state it."""

    manifest: dict[str, Any]
    stats: dict[str, Any]

    def __getitem__(self, key: str) -> Any:
        return self.manifest[key]

    def metric(self, name: str) -> float:
        return float(self.stats["metrics"][name])

    def counts(self, statistic: str) -> Iterator[tuple[dict[str, str], int]]:
        """The counts of the measured region, each with its labels by dimension."""
        region = self.stats["region"]
        entry = region["totals"][statistic]
        places = itertools.product(*(region["labels"][dim] for dim in entry["dims"]))
        for place, value in zip(places, entry["values"], strict=True):
            yield dict(zip(entry["dims"], place, strict=True)), value


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped runs, all valid, and copies of some: a live run with another L2, an invalid run, and two replays."""
    runs = tmp_path_factory.mktemp("documented") / "results" / "runs"
    for path in result_runs("small"):
        _copy(runs, path.name, path.name, {})
    changed, invalid, *replayed = [path.name for path in result_runs("small") if path.name.startswith("imapb-")][:4]
    _copy(runs, changed, "changed", {"l2.size": 2 << 20}, {"differences": {"l2.size": "2MiB"}})
    _copy(runs, invalid, "invalid", {}, invalid=True, metrics={"command_ms.p90.imap.noop": 12.5})
    for name, source, ways in (("replay-a", replayed[0], 4), ("replay-b", replayed[1], 8)):
        capture = {"name": "imapb-small-s1", "form": "filtered", "clients": 18, "think_ms": 30.0}
        _copy(runs, source, name, {"l2.ways": ways}, {"engine": "replay", "capture": capture, "protocol": "mesi"})
    insert_runs(runs.parent / "s80lab.sqlite", sorted(runs.iterdir()))
    return runs


def _copy(
    runs: Path,
    source: str,
    name: str,
    design: dict[str, object],
    manifest: dict[str, object] | None = None,
    invalid: bool = False,
    metrics: Mapping[str, float] | None = None,
) -> None:
    target = shutil.copytree(unpacked("small") / "runs" / source, runs / name)
    old = json.loads((target / "manifest.json").read_text())
    new = old | (manifest or {}) | {"run": name, "design": old["design"] | design, "files": {}}
    if design and "differences" not in (manifest or {}):  # then the database finds them with the experiment's file
        new.pop("differences", None)
    (target / "manifest.json").write_text(json.dumps(new))
    stats = json.loads((target / "stats.json").read_text())
    known = {metric: value for metric, value in stats["metrics"].items() if metric.partition(".")[0] in REGISTRY}
    stats["metrics"] = known | dict(metrics or {})
    if invalid:
        stats["standing"] = {"verdict": "invalid", "reasons": ["too short"]}
    (target / "stats.json").write_text(json.dumps(stats))


@pytest.fixture(scope="module")
def stored(folder: Path) -> list[Stored]:
    return [
        Stored(*(json.loads((one / name).read_text()) for name in ("manifest.json", "stats.json")))
        for one in sorted(folder.iterdir())
    ]


def valid(runs: Sequence[Stored]) -> list[Stored]:
    return [one for one in runs if one["run"] != "invalid"]


def grouped(runs: Sequence[Stored], key: Callable[[Stored], Any]) -> list[list[Stored]]:
    """Runs of one key together. Texts of designs are left out of keys: here protocol and values tell designs apart."""
    found: dict[Any, list[Stored]] = defaultdict(list)
    for one in runs:
        found[key(one)].append(one)
    return list(found.values())


def design(one: Stored) -> tuple[Any, ...]:
    return one["protocol"], one["design"]["l2.size"], one["design"]["l2.ways"]


def summed(runs: Sequence[Stored], statistic: str, key: Callable[[Stored, dict[str, str]], Any]) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for one in runs:
        for labels, count in one.counts(statistic):
            if (place := key(one, labels)) is not None:
                found[place] += count
    return found


def mean_e_share(runs: Sequence[Stored]) -> float:
    return fmean(one.metric("e_share") for one in runs)


def live(runs: Sequence[Stored]) -> list[Stored]:
    return [one for one in valid(runs) if one["engine"] == "qemu"]


def replays(runs: Sequence[Stored]) -> list[Stored]:
    return [one for one in runs if one["engine"] == "replay"]


OF_SESSIONS = ("e_share_of.session", "e_to_m_share_of.session")
WALKS = ("l1_miss_rate.walk", "l2_miss_rate.walk", "walk_stall_from_memory")
DESIGN = ("l2_mpki.all", "miss_source.all.memory", "e_share", "traffic_pki.all")
EXPECTED: dict[str, Callable[[Sequence[Stored]], list[tuple[Any, ...]]]] = {
    "SELECT workload, design, avg(e_share), avg(e_to_m_share) FROM v_e_state WHERE class = 'session' "
    "AND scale = 'small' GROUP BY workload, design": lambda runs: [
        (
            of[0]["workload"],
            *(fmean(one.metric(f"{name}.session") for one in of) for name in ("e_share_of", "e_to_m_share_of")),
        )
        for of in grouped(valid(runs), lambda one: (one["workload"], design(one)))
    ],
    "SELECT run, value FROM v_metric WHERE name = 'cpi.memory'": lambda runs: [
        (one["run"], one.metric("cpi.memory")) for one in valid(runs)
    ],
    "SELECT workload, avg(e_share) AS e_share FROM v_design WHERE engine = 'qemu' GROUP BY workload": lambda runs: [
        (of[0]["workload"], mean_e_share(of)) for of in grouped(live(runs), lambda one: one["workload"])
    ],
    "SELECT workload, differences, count(*) AS runs, avg(e_share) AS e_share FROM v_design WHERE engine = 'qemu' "
    "GROUP BY workload, design ORDER BY workload, differences": lambda runs: [
        (of[0]["workload"], "l2.size=2MiB" if of[0]["run"] == "changed" else "", len(of), mean_e_share(of))
        for of in grouped(live(runs), lambda one: (one["workload"], design(one)))
    ],
    "SELECT workload, design, source, sum(misses) AS misses FROM v_miss_source "
    "GROUP BY workload, design, source": lambda runs: [
        (mix, source, count)
        for (mix, _, source), count in summed(
            valid(runs), "miss_source", lambda one, labels: (one["workload"], design(one), labels["source"])
        ).items()
    ],
    "SELECT protocol, l2_size, l2_mpki, memory_share, e_share, traffic_pki FROM v_design WHERE capture LIKE 'imapb%'": (
        lambda runs: [("mesi", one["design"]["l2.size"], *map(one.metric, DESIGN)) for one in replays(runs)]
    ),
    "SELECT v.design, d.value AS ways, avg(v.l2_mpki) FROM v_design v JOIN design d ON d.run = v.run AND d.key = "
    "'l2.ways' WHERE engine = 'replay' GROUP BY v.design": lambda runs: [
        (one["design"]["l2.ways"], one.metric("l2_mpki.all")) for one in replays(runs)
    ],
    "SELECT run, status, name, value FROM v_metric_all WHERE name LIKE 'command_ms.p90.%'": lambda runs: [
        ("invalid", "invalid", "command_ms.p90.imap.noop", 12.5)
    ],
    "SELECT run, instruction, value FROM v_run_all CROSS JOIN counter USING (run) WHERE statistic = "
    "'instruction_class' AND class = 'session' AND privilege = 'user'": (
        lambda runs: [
            (*key, count)
            for key, count in summed(
                runs,
                "instruction_class",
                lambda one, labels: (
                    (one["run"], labels["instruction"])
                    if (labels["class"], labels["privilege"]) == ("session", "user")
                    else None
                ),
            ).items()
        ]
    ),
    f"SELECT run, name, value FROM metric WHERE name IN {WALKS}": lambda runs: [
        (one["run"], name, one.metric(name)) for one in runs for name in WALKS
    ],
    "SELECT workload, privilege, sum(misses) FROM v_miss_source WHERE kind = 'store' AND source = 'M' "
    "GROUP BY workload, privilege": (
        lambda runs: [
            (*key, count)
            for key, count in summed(
                valid(runs),
                "miss_source",
                lambda one, labels: (
                    (one["workload"], labels["privilege"])
                    if (labels["kind"], labels["source"]) == ("store", "M")
                    else None
                ),
            ).items()
        ]
    ),
    "SELECT source, sum(misses) AS misses FROM v_miss_source GROUP BY source ORDER BY source": lambda runs: list(
        summed(valid(runs), "miss_source", lambda one, labels: labels["source"]).items()
    ),
    "SELECT DISTINCT l2_size / 1024 AS l2_kib FROM v_design WHERE engine = 'qemu' ORDER BY 1": lambda runs: [
        (2048,),
        (8192,),
    ],
    "SELECT protocol, count(*) AS designs FROM v_design_all WHERE engine = 'replay' GROUP BY protocol ORDER BY 1": (
        lambda runs: [("mesi", len(replays(runs)))]
    ),
    "SELECT design, avg(e_share) FROM v_design GROUP BY design": lambda runs: [
        (mean_e_share(of),) for of in grouped(valid(runs), design)
    ],
}
"""For each query the rows, in any order, without the texts of designs."""


def documented() -> set[str]:
    """The queries of README, docs, help and claims."""
    pages = [paths.ROOT / "README.md", *(paths.ROOT / "docs").rglob("*.md"), *(paths.ROOT / "workloads").rglob("*.md")]
    pages += [
        *(paths.ROOT / "scripts" / "s80lab" / "commands" / "line").glob("*.py"),
        paths.ROOT / "results/paper/answers.toml",
    ]
    found = {one or other for page in pages for one, other in QUERY.findall(page.read_text(encoding="utf-8"))}
    return found - {"SQL", "SELECT ..."}


def test_documented_queries_all_have_expected_values() -> None:
    assert documented() == set(EXPECTED)


@pytest.mark.parametrize("sql", EXPECTED)
def test_documented_query_returns_the_values_of_the_runs(sql: str, folder: Path, stored: list[Stored]) -> None:
    columns, rows, *_ = select(folder.parent / "s80lab.sqlite", sql)
    found = [tuple(cell for column, cell in zip(columns, row, strict=True) if column != "design") for row in rows]
    expected = EXPECTED[sql](stored)
    assert len(found) > 0 and len(found) == len(expected)
    for one, other in zip(sorted(found), sorted(expected), strict=True):
        assert one == pytest.approx(other)


def test_examples_of_the_database_page_print_what_they_show(folder: Path, tmp_path: Path) -> None:
    lab = Lab(tmp_path / "checkpoints", folder.parent)
    commands = [example for example in examples(PAGE) if isinstance(example, Command)]
    assert len(commands) == 2
    for command in commands:
        run(command, tmp_path, lab.environment(), LIMIT_S)
