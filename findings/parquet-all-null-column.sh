#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Packages (PyPI): pyarrow 25.0.0, duckdb 2.0.1, polars 2.1.0.
#
# Behaviour: pyarrow writes a column in which every value is missing with the type `null`, not with the type that the column
# has in other files of the same data set. All three readers take the schema of the first file. So the same two files can be
# read in one order and not in the other, with three different errors.
#
# Why it surprises: each file is valid and can be read alone, and a file listing decides about the error. The data set works
# until the first file in alphabetical order happens to have an empty column. duckdb's `union_by_name=true` reads both orders.
#
# Seen:
#   null first:  pyarrow ArrowNotImplementedError, duckdb ConversionException, polars SchemaError
#   null second: pyarrow, duckdb, polars: both rows
#   by name:     duckdb: both rows in both orders
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pyarrow==25.0.0 duckdb==2.0.1 polars==2.1.0
venv/bin/python - <<'PYTHON'
import sys

import duckdb
import polars
import pyarrow
import pyarrow.dataset
import pyarrow.parquet

pyarrow.parquet.write_table(pyarrow.table({"run": ["a"], "share": [None]}), "null.parquet")
pyarrow.parquet.write_table(pyarrow.table({"run": ["b"], "share": [1.5]}), "number.parquet")
READERS = {
    "pyarrow": lambda files: pyarrow.dataset.dataset(files).to_table().num_rows,
    "duckdb": lambda files: len(duckdb.sql(f"SELECT * FROM read_parquet({files})").fetchall()),
    "duckdb by name": lambda files: len(
        duckdb.sql(f"SELECT * FROM read_parquet({files}, union_by_name=true)").fetchall()
    ),
    "polars": lambda files: len(polars.read_parquet(files)),
}
EXPECTED = {
    "pyarrow": ("ArrowNotImplementedError", 2),
    "duckdb": ("ConversionException", 2),
    "duckdb by name": (2, 2),
    "polars": ("SchemaError", 2),
}


def outcome(reader, files):
    try:
        return reader(files)
    except Exception as error:
        return type(error).__name__


seen = {
    name: (outcome(reader, ["null.parquet", "number.parquet"]), outcome(reader, ["number.parquet", "null.parquet"]))
    for name, reader in READERS.items()
}
for name, (null_first, null_second) in seen.items():
    print(f"{name}: null first: {null_first}; null second: {null_second}")
if seen != EXPECTED:
    sys.exit("the behaviour has changed: see the head of this script")
PYTHON
