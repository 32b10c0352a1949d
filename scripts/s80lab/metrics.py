# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics derived from the statistics of a measured region.

    write_stats(run_dir: Path, *, inputs: Mapping[str, str] | None = None,
                warm_snapshots: Path | None = None) -> dict[str, Any]
        Reads snapshots.jsonl and transactions.json of the run folder and writes stats.json beside
        them; returns what it wrote. inputs (name to SHA-256) and warm_snapshots (of the warm
        checkpoint, for the drift) come from manifest.json where they are not given. Nothing that
        depends on the host or on the hour goes into the file. Its "warmup" entry
        ({"verdict": "warm" | "not warm", "drift_points": {...}, ...}) is the run's verdict.
"""
