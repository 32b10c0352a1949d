# SPDX-License-Identifier: GPL-2.0-or-later
"""Readers for the JSON files of a run's folder. UserError names the file and what is wrong in it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from s80lab.base.errors import UserError
from s80lab.base.strict import read_toml

MANIFEST_KEYS = (
    "run",
    "experiment",
    "mix",
    "engine",
    "machine",
    "protocol",
    "workload",
    "scale",
    "seed",
    "status",
    "instructions",
    "modelled_ns",
    "wall_s",
    "mips",
    "inputs",
    "versions",
)
NAMES = ("run", "experiment", "mix", "engine", "machine", "protocol", "server", "image", "workload", "scale")
LARGEST = 1 << 63
"""Numbers of a manifest must be smaller: the database stores whole numbers of 64 bits."""
LARGEST_FILE = 256 << 20
"""Largest size of a JSON file in bytes. The files of a run have less than a MB."""
NUMBERS = ("seed", "instructions", "modelled_ns", "wall_s", "mips")
TRANSACTIONS_KEYS = ("mix", "seed", "clients", "think_ms", "region", "transactions", "totals", "errors")
# Of runs that are older than the choice: there was no other.
FIRST_SERVER = "dovecot"
FIRST_IMAGE = "debian"
# Engines whose runs have no result of the load generator.
UNLOADED = ("replay", "gem5")
STATS_KEYS = ("inputs", "region", "metrics", "windows", "warmup")


def read_manifest(run_dir: Path) -> dict[str, Any]:
    """Read manifest.json of a complete run. UserError if the run is not complete."""
    path = run_dir / "manifest.json"
    manifest = _read(path, MANIFEST_KEYS)
    if manifest["status"] != "whole":
        raise UserError(
            f"{path}: the run is incomplete (status `{manifest['status']}` instead of `whole`); repeat the run"
        )
    manifest.setdefault("server", FIRST_SERVER)
    manifest.setdefault("image", FIRST_IMAGE)
    for key in NUMBERS:
        value = manifest[key]
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise UserError(f"{path}: the value of `{key}` must be a number, not {_short(value)}; repeat the run")
        if not (math.isfinite(value) and abs(value) < LARGEST):
            raise UserError(f"{path}: the value of `{key}` must be a number of at most 64 bits; repeat the run")
    for key in NAMES:
        value = manifest[key]
        if not (isinstance(value, str) and value and value.isprintable()):
            raise UserError(
                f"{path}: the value of `{key}` must be a text without control characters, not {_short(value)}; "
                "repeat the run"
            )
    return manifest


def read_transactions(path: Path) -> dict[str, Any]:
    """Read transactions.json, the result of the load generator."""
    return _read(path, TRANSACTIONS_KEYS)


def read_load(run_dir: Path, manifest: Mapping[str, Any]) -> dict[str, Any] | None:
    """Read the result of the load generator; None for replays and gem5 runs.

    A replay plays recorded accesses, so no load generator runs. The measured region of a gem5 run ends before the load
    generator writes its result.
    """
    return None if manifest["engine"] in UNLOADED else read_transactions(run_dir / "transactions.json")


def read_stats(run_dir: Path) -> dict[str, Any]:
    """Read stats.json, the metrics of the run."""
    return _read(run_dir / "stats.json", STATS_KEYS)


def read_wanted(run_dir: Path) -> dict[str, Any]:
    """The table [guest] of the run's machine file; empty if the run has no machine file."""
    path = run_dir / "machine.toml"
    return dict(read_toml(path).get("guest", {})) if path.is_file() else {}


def read_misses(run_dir: Path) -> list[dict[str, Any]]:
    """Read misses.json, the tables of the run's attributed misses; empty if the file does not exist."""
    path = run_dir / "misses.json"
    if not path.is_file():
        return []
    try:
        return list(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise UserError(
            f"{path}: cannot be read ({error}); `s80lab misses {run_dir.name}` writes the file again"
        ) from None


def _short(value: object) -> str:
    """A value for a message, in 40 characters at most."""
    text = ascii(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not a number")


def _read(path: Path, keys: Sequence[str]) -> dict[str, Any]:
    try:
        if path.exists() and not path.is_file():
            raise UserError(f"{path}: is not a regular file; repeat the run")
        if path.stat().st_size > LARGEST_FILE:
            raise UserError(f"{path}: is larger than {LARGEST_FILE >> 20} MiB; repeat the run")
        value = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise UserError(f"{path}, line {error.lineno}: is not JSON ({error.msg}); repeat the run") from None
    except RecursionError:
        raise UserError(f"{path}: is not a file of s80lab (too many nested brackets); repeat the run") from None
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: cannot be read ({error}); repeat the run") from None
    if not isinstance(value, dict):
        raise UserError(f"{path}: the file must contain a JSON object; repeat the run")
    if value.get("schema") != 1:
        raise UserError(
            f"{path}: has schema {value.get('schema')}, but this version of s80lab reads schema 1; repeat the run"
        )
    for key in keys:
        if key not in value:
            raise UserError(f"{path}: the key `{key}` is missing; repeat the run with this version of s80lab")
    return value
