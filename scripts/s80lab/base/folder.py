# SPDX-License-Identifier: GPL-2.0-or-later
"""The JSON files of a run's folder, read with every refusal in one sentence."""

from __future__ import annotations

import json
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
NUMBERS = ("seed", "instructions", "modelled_ns", "wall_s", "mips")
TRANSACTIONS_KEYS = ("mix", "seed", "clients", "think_ms", "region", "transactions", "totals", "errors")
# Of runs that are older than the choice: there was no other.
FIRST_SERVER = "dovecot"
FIRST_IMAGE = "debian"
# Engines whose runs have no result of the load generator.
UNLOADED = ("replay", "gem5")
STATS_KEYS = ("inputs", "region", "metrics", "windows", "warmup")


def read_manifest(run_dir: Path) -> dict[str, Any]:
    """manifest.json of a whole run; a run that is not whole has no results and is refused."""
    path = run_dir / "manifest.json"
    manifest = _read(path, MANIFEST_KEYS)
    if manifest["status"] != "whole":
        raise UserError(f"{path}: the run is {manifest['status']}, not whole; run it again")
    for key in NUMBERS:
        if isinstance(manifest[key], bool) or not isinstance(manifest[key], int | float):
            raise UserError(f"{path}: `{key}` must be a number, not {manifest[key]!r}; run it again")
    manifest.setdefault("server", FIRST_SERVER)
    manifest.setdefault("image", FIRST_IMAGE)
    return manifest


def read_transactions(path: Path) -> dict[str, Any]:
    """transactions.json, the load generator's result."""
    return _read(path, TRANSACTIONS_KEYS)


def read_load(run_dir: Path, manifest: Mapping[str, Any]) -> dict[str, Any] | None:
    """The load generator's result; None for a replay, whose clients do not feel its timing, and for gem5, whose
    region ends before the load generator would say it."""
    return None if manifest["engine"] in UNLOADED else read_transactions(run_dir / "transactions.json")


def read_stats(run_dir: Path) -> dict[str, Any]:
    """stats.json, as write_stats leaves it."""
    return _read(run_dir / "stats.json", STATS_KEYS)


def read_wanted(run_dir: Path) -> dict[str, Any]:
    """What the run's machine file says of the guest; empty of a run that has no such file."""
    path = run_dir / "machine.toml"
    return dict(read_toml(path).get("guest", {})) if path.is_file() else {}


def read_misses(run_dir: Path) -> list[dict[str, Any]]:
    """misses.json, the tables of the run's misses by name; empty where it has none."""
    path = run_dir / "misses.json"
    if not path.is_file():
        return []
    try:
        return list(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: cannot be read ({error}); `s80lab misses {run_dir.name}` makes it anew") from None


def _read(path: Path, keys: Sequence[str]) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise UserError(f"{path}: is no JSON ({error.msg}, line {error.lineno}); run it again") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read ({error}); run it again") from None
    if not isinstance(value, dict):
        raise UserError(f"{path}: must be a JSON object; run it again")
    if value.get("schema") != 1:
        raise UserError(f"{path}: has schema {value.get('schema')}, this version reads schema 1; run it again")
    for key in keys:
        if key not in value:
            raise UserError(f"{path}: has no `{key}`; run it again with this version")
    return value
