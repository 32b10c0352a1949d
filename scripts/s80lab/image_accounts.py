# SPDX-License-Identifier: GPL-2.0-or-later
"""What the servers need beside their programs: the accounts' database and the TLS certificate."""

from __future__ import annotations

import sqlite3
import subprocess
from pathlib import Path

ACCOUNTS = 512
PASSWORD = "secret"
HOST = "mail.s80.example"


def accounts_database(folder: Path) -> bytes:
    """An SQLite file with the table `users` (name, password): user001 .. user512."""
    path = folder / "users.sqlite"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE users (name TEXT PRIMARY KEY, password TEXT NOT NULL) WITHOUT ROWID")
        rows = ((f"user{number:03}", PASSWORD) for number in range(1, ACCOUNTS + 1))
        database.executemany("INSERT INTO users VALUES (?, ?)", rows)
    database.close()
    return path.read_bytes()


def certificate(folder: Path) -> tuple[bytes, bytes]:
    """A self-signed certificate (ECDSA, P-256, valid 100 years: the guest's date is fixed) and its key, both PEM."""
    key, cert = folder / "key.pem", folder / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
         "-sha256", "-subj", f"/CN={HOST}", "-days", "36500", "-keyout", str(key), "-out", str(cert)],
        check=True,
        capture_output=True,
    )  # fmt: skip
    return cert.read_bytes(), key.read_bytes()
