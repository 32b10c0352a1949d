# SPDX-License-Identifier: GPL-2.0-or-later
"""The database: rows of whole runs only, views, a killed writer, old schemas, read-only questions."""

from __future__ import annotations

import io
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from rich.console import Console
from tests.lab import LIMIT_S, Lab

from s80lab.analysis.groups import read_run
from s80lab.base.errors import UserError
from s80lab.commands.process import INTERRUPTED, sentence_of
from s80lab.results import query as query_module
from s80lab.results.database import SCHEMA_VERSION, _transaction, insert_run, list_runs, require_schema
from s80lab.results.products import record_products
from s80lab.results.query import LONGEST, query, render, select
from s80lab.results.run_folder import RunFolder

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


@pytest.fixture
def database(runs: Path) -> Path:
    path = runs.parent / "s80lab.sqlite"
    for folder in sorted(runs.glob("imap?-?")):
        insert_run(path, RunFolder(folder))
    return path


def ask(database: Path, sql: str) -> list[dict[str, Any]]:
    columns, rows, *_ = select(database, sql)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def test_views_have_the_agreed_columns(database: Path) -> None:
    columns, *_ = select(database, "SELECT * FROM v_miss_source")
    assert columns[-6:] == ["class", "privilege", "kind", "source", "misses", "share"]
    columns, *_ = select(database, "SELECT * FROM v_e_state")
    assert columns[-7:] == ["class", "fills", "fills_e", "e_share", "e_to_m", "e_to_m_share", "stores_found_e"]


def test_v_e_state_agrees_with_stats(database: Path, run_dir: Path) -> None:
    metrics = json.loads((run_dir / "stats.json").read_text())["metrics"]
    rows = ask(database, "SELECT * FROM v_e_state_all WHERE run = 'imapb-1'")
    assert {row["class"] for row in rows} == {"session", "loadgen", "other"}
    assert {(row["experiment"], row["workload"], row["seed"]) for row in rows} == {("imapb", "imapb", 1)}
    sums = [sum(row[name] for row in rows) for name in ("fills", "fills_e", "e_to_m", "stores_found_e")]
    assert sums == [3218, 1950, 318, 318]
    for row in rows:
        assert row["e_share"] == pytest.approx(metrics[f"e_share_of.{row['class']}"])
        assert row["e_to_m_share"] == pytest.approx(metrics[f"e_to_m_share_of.{row['class']}"])


def test_v_miss_source_agrees_with_stats(database: Path, run_dir: Path) -> None:
    metrics = json.loads((run_dir / "stats.json").read_text())["metrics"]
    rows = ask(database, "SELECT * FROM v_miss_source_all WHERE run = 'imapb-1'")
    assert len(rows) == 6 * 2 * 4 * 5
    assert sum(row["misses"] for row in rows) == 3218
    by_privilege = """SELECT privilege, kind, source, 1.0 * sum(misses) /
        sum(sum(misses)) OVER (PARTITION BY privilege, kind) AS share
        FROM v_miss_source_all WHERE run = 'imapb-1' GROUP BY privilege, kind, source"""
    for row in ask(database, by_privilege):
        name = f"miss_source_at.{row['privilege']}.{row['kind']}.{row['source']}"
        assert row["share"] == pytest.approx(metrics[name])
    by_class = """SELECT class, source, 1.0 * sum(misses) / sum(sum(misses)) OVER (PARTITION BY class) AS share
        FROM v_miss_source_all WHERE run = 'imapb-1' GROUP BY class, source"""
    for row in ask(database, by_class):
        assert row["share"] == pytest.approx(metrics[f"miss_source_of.{row['class']}.all.{row['source']}"])


def test_v_entry_agrees_with_stats(database: Path, run_dir: Path) -> None:
    metrics = json.loads((run_dir / "stats.json").read_text())["metrics"]
    rows = ask(
        database,
        "SELECT entry, sum(instructions) AS instructions, sum(memory_misses) * 1.0 / sum(misses) AS memory "
        "FROM v_entry_all WHERE run = 'imapb-1' GROUP BY entry",
    )
    assert {row["entry"] for row in rows if row["instructions"]} == {"user", "system_call", "tick"}
    whole = sum(row["instructions"] for row in rows)
    for row in rows:
        assert row["instructions"] / whole == pytest.approx(metrics[f"entry_share.{row['entry']}.instructions"])
        assert row["memory"] == (
            None if not row["instructions"] else pytest.approx(metrics[f"miss_source_in.{row['entry']}.memory"])
        )


def test_v_cache_and_v_instruction_mix_agree_with_stats(database: Path, run_dir: Path) -> None:
    metrics = json.loads((run_dir / "stats.json").read_text())["metrics"]
    (cache,) = ask(
        database,
        "SELECT sum(l2_mpki) AS mpki FROM v_cache_all WHERE run = 'imapb-1' AND privilege = 'kernel'",
    )
    assert cache["mpki"] == pytest.approx(metrics["l2_mpki.kernel"])
    (mix,) = ask(
        database,
        "SELECT 1.0 * sum(instructions) FILTER (WHERE instruction = 'load') / sum(instructions) AS load "
        "FROM v_instruction_mix_all WHERE run = 'imapb-1'",
    )
    assert mix["load"] == pytest.approx(metrics["instruction_mix.load"])


def test_v_transactions_and_v_sampling_intervals(database: Path) -> None:
    (types,) = ask(
        database, "SELECT count(*) n, sum(count) total, sum(share) share FROM v_transactions_all WHERE seed = 1"
    )
    assert (types["n"], types["total"], types["share"]) == (10, 180, pytest.approx(1))
    intervals = ask(database, "SELECT number, phase FROM v_sampling_intervals WHERE run = 'imape-3' ORDER BY number")
    assert [row["number"] for row in intervals] == list(range(13))
    assert [row["phase"] for row in intervals].count("measured") == 3


def test_run_row_has_status_and_reasons(database: Path) -> None:
    rows = ask(database, "SELECT id, status, reasons FROM run WHERE seed IN (1, 11) ORDER BY id")
    assert [(row["id"], row["status"]) for row in rows] == [("imapb-1", "invalid"), ("imape-1", "valid")]
    assert rows[0]["reasons"].startswith("not in steady state (") and rows[1]["reasons"] == ""
    assert len(ask(database, "SELECT run FROM v_design")) == 3


def test_repeated_insert_of_a_run_replaces_its_rows(database: Path, run_dir: Path) -> None:
    before = ask(database, "SELECT count(*) AS n FROM counter")
    insert_run(database, RunFolder(run_dir))
    assert ask(database, "SELECT count(*) AS n FROM counter") == before
    assert [run["id"] for run in list_runs(database)].count("imapb-1") == 1


def test_run_folder_is_stored_relative_to_the_database(database: Path) -> None:
    assert {run["folder"] for run in list_runs(database)} >= {"runs/imapb-1", "runs/imape-3"}


def test_insert_of_incomplete_run_is_refused(runs: Path, run_dir: Path) -> None:
    path = run_dir / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "status": "interrupted"}))
    with pytest.raises(
        UserError, match=r"manifest.json: the run is incomplete \(status `interrupted` instead of `whole`\)"
    ):
        insert_run(runs / "new.sqlite", RunFolder(run_dir))
    assert list_runs(runs / "new.sqlite") == []


def test_failed_first_write_leaves_no_database(runs: Path, run_dir: Path) -> None:
    """Two equal buckets of a histogram: the transaction fails after the tables were made."""
    load = json.loads((run_dir / "transactions.json").read_text())
    whole = json.dumps(load)
    load["transactions"]["SRCH"]["histogram"] *= 2
    (run_dir / "transactions.json").write_text(json.dumps(load))
    database = runs.parent / "results" / "s80lab.sqlite"
    with pytest.raises(UserError, match="imapb-1: the database cannot store a value of this run"):
        insert_run(database, RunFolder(run_dir))
    assert [path.name for path in database.parent.iterdir()] == [".s80lab.sqlite.lock"]
    (run_dir / "transactions.json").write_text(whole)
    insert_run(database, RunFolder(run_dir))
    assert len(list_runs(database)) == 1


@pytest.mark.parametrize("pages", [0, 1])
def test_database_without_tables_counts_as_absent(tmp_path: Path, run_dir: Path, pages: int) -> None:
    """As a first writer of an older version left it: an empty file, or one page without a table."""
    database = tmp_path / "s80lab.sqlite"
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("VACUUM" if pages else "SELECT 1")
    database.touch()
    assert (database.stat().st_size > 0) == bool(pages)
    require_schema(database)
    assert list_runs(database) == []
    insert_run(database, RunFolder(run_dir))
    assert [run["id"] for run in list_runs(database)] == ["imapb-1"]


def test_first_writer_that_is_killed_leaves_no_database(runs: Path) -> None:
    path = runs.parent / "new" / "s80lab.sqlite"
    died = subprocess.run(
        [sys.executable, "-c", DYING_WRITER, path, runs / "imapb-2"],
        env={**os.environ, "PYTHONPATH": str(SCRIPTS)},
    )
    assert died.returncode == -9
    assert not path.exists() and list_runs(path) == []
    insert_run(path, RunFolder(runs / "imapb-1"))
    assert [run["id"] for run in list_runs(path)] == ["imapb-1"]
    assert sorted(file.name for file in path.parent.iterdir()) == [".s80lab.sqlite.lock", "s80lab.sqlite"]


def test_full_disk_is_reported_as_such(database: Path) -> None:
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(sqlite3.OperationalError, match="full") as error, _transaction(connection):
            connection.execute("CREATE TABLE large AS SELECT zeroblob(10000000)")
    assert "the disk of this folder is full" in sentence_of(error.value)


def test_report_of_changed_product_is_refused(run_dir: Path) -> None:
    record_products(RunFolder(run_dir))
    stats = run_dir / "stats.json"
    stats.write_text(stats.read_text().replace("1", "2", 1))
    with pytest.raises(UserError, match=r"stats.json: the file differs from the file that s80lab wrote"):
        read_run(RunFolder(run_dir))


def test_changed_product_is_refused(runs: Path, run_dir: Path) -> None:
    record_products(RunFolder(run_dir))
    database = runs.parent / "s80lab.sqlite"
    insert_run(database, RunFolder(run_dir))
    stats = run_dir / "stats.json"
    stats.write_bytes(stats.read_bytes().replace(b"1", b"2", 1))
    with pytest.raises(UserError, match=r"imapb-1/stats.json: the file differs from the file that s80lab wrote"):
        insert_run(database, RunFolder(run_dir))


def test_manifest_with_word_for_number_is_refused(runs: Path, run_dir: Path) -> None:
    manifest = json.loads((run_dir / "manifest.json").read_text()) | {"instructions": "many"}
    (run_dir / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(UserError, match="`instructions` must be a number, not 'many'"):
        insert_run(runs.parent / "s80lab.sqlite", RunFolder(run_dir))


def test_insert_of_run_without_stats_is_refused(runs: Path, run_dir: Path) -> None:
    (run_dir / "stats.json").unlink()
    with pytest.raises(UserError, match=r"stats.json: cannot be read"):
        insert_run(runs / "new.sqlite", RunFolder(run_dir))


DYING_WRITER = """
import os, signal, sys
from pathlib import Path
from s80lab.results import database
from s80lab.results.run_folder import RunFolder

connect = database.connect

def die_at_the_intervals(sql):
    if sql.startswith("INSERT INTO sampling_interval"):
        os.kill(os.getpid(), signal.SIGKILL)

def connect_and_die(path):
    connection = connect(path)
    connection.execute("PRAGMA cache_size = 1")  # spills: the file is changed before the commit
    connection.set_trace_callback(die_at_the_intervals)
    return connection

database.connect = connect_and_die
database.insert_run(Path(sys.argv[1]), RunFolder(Path(sys.argv[2])))
"""


def test_killed_writer_leaves_no_partial_rows(runs: Path) -> None:
    path = runs.parent / "s80lab.sqlite"
    insert_run(path, RunFolder(runs / "imapb-1"))
    before = ask(path, "SELECT count(*) AS n FROM counter")
    died = subprocess.run(
        [sys.executable, "-c", DYING_WRITER, path, runs / "imapb-2"],
        env={**os.environ, "PYTHONPATH": str(SCRIPTS)},
    )
    assert died.returncode == -9
    assert path.with_name(path.name + "-journal").exists()  # it really was in the middle
    assert ask(path, "SELECT id FROM run") == [{"id": "imapb-1"}]
    assert ask(path, "SELECT count(*) AS n FROM counter") == before
    insert_run(path, RunFolder(runs / "imapb-2"))
    assert [run["id"] for run in list_runs(path)] == ["imapb-1", "imapb-2"]


def test_writers_at_the_same_time_wait_for_each_other(runs: Path) -> None:
    path = runs.parent / "s80lab.sqlite"
    folders = sorted(runs.glob("imap?-?"))
    with ThreadPoolExecutor(len(folders)) as pool:
        list(pool.map(lambda folder: insert_run(path, RunFolder(folder)), folders))
    assert len(list_runs(path)) == 6


@pytest.mark.parametrize(("version", "age"), [(SCHEMA_VERSION - 1, "older"), (SCHEMA_VERSION + 1, "newer")])
def test_database_of_other_schema_is_refused_with_remedy(database: Path, run_dir: Path, version: int, age: str) -> None:
    with sqlite3.connect(database) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    sentence = (
        f"has schema {version} of an? {age} version of s80lab; this version needs schema {SCHEMA_VERSION}. Move the"
    )
    with pytest.raises(UserError, match=sentence):
        insert_run(database, RunFolder(run_dir))


def test_file_that_is_not_a_database_is_refused(runs: Path, run_dir: Path) -> None:
    path = runs / "no.sqlite"
    path.write_text("this is no database, only a text of some length" * 30)
    with pytest.raises(UserError, match=r"no.sqlite: the run imapb-1 could not be written \(file is not a database"):
        insert_run(path, RunFolder(run_dir))


@pytest.mark.parametrize(
    ("sql", "sentence"),
    [
        ("SELCT 1", 'the SQL query failed: near "SELCT": syntax error'),
        ("SELECT color FROM run", "the SQL query failed: no such column: color"),
        (
            "SELECT sed FROM run",
            r"no such column: sed \(did you mean seed\?\); docs/reference/database.md lists the columns",
        ),
        ("SELECT * FROM runs", r"no such table: runs \(the nearest: run, v_run, "),
        ("DELETE FROM run", "the SQL query failed: attempt to write a readonly database"),
        ("SELECT 1; DELETE FROM run", "the SQL query failed: You can only execute one statement"),
        ("ATTACH 'other.sqlite' AS other", "the SQL query failed: not authorized"),
        ("BEGIN", "the SQL text does not read rows"),
    ],
)
def test_invalid_sql_is_refused_in_one_sentence(database: Path, sql: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        query(database, sql)
    assert len(list_runs(database)) == 6


def printed(database: Path, sql: str, output: str) -> str:
    text = io.StringIO()
    query(database, sql, output, Console(file=text, width=20))
    return text.getvalue()


def test_query_output_has_csv_json_and_table_forms(database: Path) -> None:
    sql = "SELECT id, seed, NULL AS missing, 0.25 AS share FROM run WHERE workload = 'imapb' ORDER BY id LIMIT 2"
    assert printed(database, sql, "csv") == "id,seed,missing,share\nimapb-1,1,,0.25\nimapb-2,2,,0.25\n"
    assert json.loads(printed(database, sql, "json"))[1]["id"] == "imapb-2"
    assert printed(database, sql, "table").splitlines() == [
        "id       seed  missing  share",
        "imapb-1     1  -         0.25",
        "imapb-2     2  -         0.25",
    ]
    with pytest.raises(UserError, match="there is no output format `xml`, allowed are table, csv, json"):
        printed(database, sql, "xml")


def test_special_values_of_a_query_are_printed_and_duplicate_columns_refused(database: Path) -> None:
    sql = "SELECT x'00ff' AS raw, 9e999 AS beyond, char(27) || '[2J' AS text"
    assert json.loads(printed(database, sql, "json")) == [{"raw": "00ff", "beyond": None, "text": "\x1b[2J"}]
    assert printed(database, sql, "table").splitlines()[1].split() == ["00ff", "inf", "\\x1b[2J"]
    with pytest.raises(UserError, match="two columns of the query are named seed: rename one of them with AS"):
        printed(database, "SELECT seed, seed FROM run", "json")


def test_query_long_value_is_refused_at_once(database: Path) -> None:
    assert select(database, "SELECT printf('%.*c', 900000000, 'x')")[1] == [(None,)]  # SQLite's own limit
    for sql in (
        "SELECT zeroblob(100000000)",
        "SELECT replace(hex(zeroblob(500000)), '00', 'xxxxxxxxxxxxxxxxxxxx')",
        "SELECT '" + "x" * LONGEST + "'",
    ):
        with pytest.raises(UserError, match="a value or a row has more than 1 MiB"):
            query(database, sql)


def test_query_endless_rows_are_bounded_in_memory(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_module, "MOST_MEMORY", 1 << 20)
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
    with pytest.raises(UserError, match="need more than 1 MiB of memory: add LIMIT or WHERE"):
        query(database, endless)
    assert len(select(database, f"{endless} LIMIT 100")[1]) == 100


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_query_signal_ends_a_long_query(database: Path, number: signal.Signals) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    long = "SELECT instr(hex(zeroblob(500000)), hex(zeroblob(250000)) || 'x')"
    for sql in (endless, long):
        code = (
            "import signal, sys\nfrom pathlib import Path\nfrom s80lab.results import query\n"
            "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
            "signal.signal(signal.SIGTERM, signal.default_int_handler)\n"
            "print('ready', flush=True)\n"
            "try:\n    query.select(Path(sys.argv[1]), sys.argv[2])\n"
            "except KeyboardInterrupt:\n    print('interrupted', flush=True)\n    sys.exit(130)\n"
        )
        words = [sys.executable, "-c", code, str(database), sql]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        _wait_until_open(process.pid, database)
        process.send_signal(number)
        said, _ = process.communicate(timeout=60)
        assert (process.returncode, said) == (130, "interrupted\n")


def test_query_command_signal_prints_one_message(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "checkpoints", tmp_path / "results")
    lab.results.mkdir()
    with closing(sqlite3.connect(lab.results / "s80lab.sqlite")) as connection:
        connection.executescript(f"CREATE TABLE run (id); PRAGMA user_version = {SCHEMA_VERSION}")
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    process = lab.start("query", endless)
    _wait_until_open(process.pid, lab.results / "s80lab.sqlite")
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate(timeout=60)
    assert (process.returncode, said.strip()) == (130, f"s80lab: {INTERRUPTED}")


def _wait_until_open(pid: int, path: Path) -> None:
    """Until the process has opened the file."""
    opened, latest = False, time.monotonic() + LIMIT_S
    while not opened:
        assert time.monotonic() < latest, f"process {pid} did not open {path}"
        with suppress(FileNotFoundError):  # a file that the process closes meanwhile
            opened = path in [link.readlink() for link in Path(f"/proc/{pid}/fd").iterdir()]
        time.sleep(0.01)


def test_query_without_database_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="does not exist yet: run an experiment first"):
        query(tmp_path / "s80lab.sqlite", "SELECT 1")


def test_parquet_output_has_columns_and_rows_of_the_query(database: Path) -> None:
    columns, rows, *_ = select(database, "SELECT id, seed, created, NULL AS unknown FROM run ORDER BY id")
    table = pyarrow.parquet.read_table(pyarrow.BufferReader(render(columns, rows, "parquet")))
    assert table.column_names == ["id", "seed", "created", "unknown"]
    assert [tuple(row.values()) for row in table.to_pylist()] == rows


def test_parquet_types_follow_the_schema_where_no_row_has_a_value(database: Path) -> None:
    sql = "SELECT id, seed, mips, scale, seed AS other, mips * 2 AS twice, CAST(NULL AS TEXT) AS word FROM run WHERE {}"
    schemas = []
    for which in ("1", "0", "NULL"):
        query_text = sql.format(which)
        found = select(database, query_text, typed=True)
        content = render(found.columns, found.rows, "parquet", found.types)
        schemas.append(pyarrow.parquet.read_schema(pyarrow.BufferReader(content)))
    assert schemas[0] == schemas[1] == schemas[2]
    assert [str(one) for one in schemas[0].types] == [
        "string",
        "int64",
        "double",
        "string",
        "int64",
        "double",
        "string",
    ]


@pytest.mark.parametrize(
    ("sql", "sentence"),
    [
        ("SELECT 1 AS a UNION ALL SELECT 'x'", "several types"),
        ("SELECT 1 AS a, 2 AS a", "two columns of the query are named a"),
    ],
)
def test_columns_that_parquet_cannot_hold_are_refused(database: Path, sql: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        render(*select(database, sql)[:2], "parquet")


@pytest.mark.parametrize(
    ("column", "value", "what"),
    [
        ("experiment", "x'ff00'", "is a BLOB"),
        ("machine", "x'00'", "is a BLOB"),
        ("status", "x'ff'", ""),
        ("seed", "'x'", "is a text"),
        ("created", "x'41'", "is a BLOB"),
    ],
)
def test_list_of_a_damaged_database_is_one_sentence(database: Path, column: str, value: str, what: str) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(f"UPDATE run SET {column} = {value}")
    with pytest.raises(UserError, match=f"is damaged, because the value of `{column}` in the table `run` {what}"):
        list_runs(database)


def test_list_of_overwritten_database_is_one_sentence(database: Path) -> None:
    """60 random bytes at a time, with the seeds 0 to 39."""
    content = database.read_bytes()
    for seed in range(40):
        drawn = random.Random(seed)
        damaged = bytearray(content)
        for _ in range(60):
            damaged[drawn.randrange(len(damaged))] = drawn.randrange(256)
        database.write_bytes(damaged)
        try:
            rows = list_runs(database)
        except UserError as error:
            assert len(str(error).splitlines()) == 1
        except sqlite3.DatabaseError as error:  # the command line has a sentence for it
            assert sentence_of(error)
        else:
            json.dumps(rows)


def test_select_opens_the_database_once(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    connect = sqlite3.connect

    def counted(*words: Any, **options: Any) -> Any:
        opened.append(words[0])
        return connect(*words, **options)

    monkeypatch.setattr(sqlite3, "connect", counted)
    found = select(database, "SELECT id FROM run", typed=True)
    assert (found.columns, found.remark, found.types) == (["id"], "", ["TEXT"]) and found.rows
    assert len(opened) == 1
