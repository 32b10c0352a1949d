# SPDX-License-Identifier: GPL-2.0-or-later
"""The results database, results/s80lab.sqlite.

    insert_run(database: Path, run_dir: Path) -> None
        Writes the rows of one whole run (manifest.json, stats.json, transactions.json) in one
        transaction; the same run again replaces its rows. Creates the database when absent.
    query(database: Path, sql: str, output: str = "table", console: Console | None = None) -> None
        Prints the answer to read-only SQL as "table", "csv" or "json".
    list_runs(database: Path) -> list[dict[str, Any]]
        One row a run, oldest first.
"""
