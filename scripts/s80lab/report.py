# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports of runs and experiments.

    write_run_report(run_dir: Path) -> Path
        Writes report.html and figures/*.svg into a whole run's folder; returns report.html.
    write_experiment_report(experiment: str, run_dirs: Sequence[Path], out_dir: Path) -> Path
        The same over the seeds (and mixes) of several runs; returns out_dir/report.html.
    print_experiment(run_dirs: Sequence[Path], console: Console) -> None
        The tables of the main job on the terminal.
A run folder must hold manifest.json, stats.json, transactions.json and snapshots.jsonl.
"""
