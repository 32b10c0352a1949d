# SPDX-License-Identifier: GPL-2.0-or-later
"""The folder of a run: the names of its files, and what they contain."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from s80lab.base.errors import UserError
from s80lab.base.files import read_regular
from s80lab.base.hashing import value_hash
from s80lab.base.records import FileRecord
from s80lab.base.renamed import RESULT_KEYS, VERDICTS
from s80lab.base.strict import read_toml, validate

if TYPE_CHECKING:
    from s80lab.results.snapshots import Snapshots

# Inputs and results. The manifest lists the hashes of all other files of this group.
MANIFEST, STATS, TRANSACTIONS = "manifest.json", "stats.json", "transactions.json"
SNAPSHOTS, WARM_SNAPSHOTS = "snapshots.jsonl", "warmup.jsonl"
MACHINE, PROTOCOL = "machine.toml", "protocol.toml"
# Of runs with --misses or --profile.
MISS_LOG, MEMORY_MAP, PROFILE = "misses.bin", "memory.npz", "profile.json"
# What the report writes.
REPORT = "report.html"
MISS_STORE, MISS_TABLES, MISS_PAGE, MISS_STACKS, STALL_STACKS = (
    "misses.sqlite",
    "misses.json",
    "misses.html",
    "misses.collapsed",
    "stalls.collapsed",
)
PROFILE_PAGE, PROFILE_STACKS = "profile.html", "profile.collapsed"

SCHEMA = 2
"""Of manifest.json and stats.json. Schema 1 had other names (base/renamed.py)."""
MANIFEST_KEYS = (
    "run",
    "experiment",
    "engine",
    "machine",
    "protocol",
    "workload",
    "scale",
    "seed",
    "status",
    "instructions",
    "simulated_ns",
    "wall_s",
    "mips",
    "inputs",
    "versions",
)
NAMES = ("run", "experiment", "engine", "machine", "protocol", "server", "image", "workload", "scale")
TABLES = ("inputs", "versions", "design", "varied", "differences")
"""Keys of a manifest whose values are tables."""
LARGEST = 1 << 63
"""Numbers of a manifest must be smaller: the database stores whole numbers of 64 bits."""
LARGEST_FILE = 256 << 20
"""Largest size of a JSON file in bytes. The files of a run have less than a MB."""
NUMBERS = ("seed", "instructions", "simulated_ns", "wall_s", "mips")
TRANSACTIONS_KEYS = ("mix", "seed", "clients", "think_ms", "region", "transactions", "totals", "errors")
# Of runs that are older than the choice: there was no other.
FIRST_SERVER = "dovecot"
FIRST_IMAGE = "debian"
# Engines whose runs have no result of the load generator.
UNLOADED = ("replay", "gem5", "exec")
STATS_KEYS = ("inputs", "region", "metrics", "sampling_intervals", "warmup")


class RunFolder:
    """The folder of one run. Each file is read when it is first needed, and once. UserError names the file that is
    missing or damaged, and what is wrong in it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __truediv__(self, name: str) -> Path:
        """The path of a file in the folder."""
        return self.path / name

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """manifest.json of a complete run. UserError if the run is not complete."""
        path = self / MANIFEST
        manifest = _read(path, MANIFEST_KEYS)
        if manifest["status"] != "whole":
            raise UserError(
                f"{path}: the run is incomplete (status `{manifest['status']}` instead of `whole`); repeat the run"
            )
        manifest.setdefault("server", FIRST_SERVER)
        manifest.setdefault("image", FIRST_IMAGE)
        for key in NUMBERS:
            _check_number(path, key, manifest[key])
        for key in TABLES:
            value = manifest.get(key, {})
            if not isinstance(value, dict) or any(isinstance(inner, dict | list) for inner in value.values()):
                raise UserError(
                    f"{path}: the value of `{key}` must be a table of texts and numbers, not {_short(value)}; repeat "
                    "the run"
                )
        for key in NAMES:
            value = manifest[key]
            if not (isinstance(value, str) and value and value.isprintable()):
                raise UserError(
                    f"{path}: the value of `{key}` must be a text without control characters, not {_short(value)}; "
                    "repeat the run"
                )
        return manifest

    @cached_property
    def transactions(self) -> dict[str, Any]:
        """transactions.json, the result of the load generator."""
        path = self / TRANSACTIONS
        content = _read(path, TRANSACTIONS_KEYS, (1,))
        types = content["transactions"]
        if not isinstance(types, dict) or not types:
            raise UserError(f"{path}: key `transactions`: is not a table of transaction types; repeat the run")
        for name, entry in types.items():
            if not _is_transaction(entry):
                raise UserError(
                    f"{path}: key `transactions`: the entry {_short(name)} has not the counts, the latencies and the "
                    "histogram of a transaction type; repeat the run"
                )
        return content

    @property
    def load(self) -> dict[str, Any] | None:
        """The result of the load generator; None for replays, gem5 runs and programs.

        A replay plays recorded accesses, and a program is its own load, so no load generator runs. The measured region
        of a gem5 run ends before the load generator writes its result.
        """
        return None if self.manifest["engine"] in UNLOADED else self.transactions

    @cached_property
    def stats(self) -> dict[str, Any]:
        """stats.json, the metrics of the run."""
        return _read(self / STATS, STATS_KEYS)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the run is invalid; empty for a valid run."""
        # Imported here for the reason in `snapshots`.
        from s80lab.results.metrics.standing import standing_of

        return standing_of(self.stats)[1]

    @cached_property
    def snapshots(self) -> Snapshots:
        """snapshots.jsonl of a run that has ended."""
        # Imported here, because numpy is slow to import and most commands read no snapshots.
        from s80lab.results.snapshots import Snapshots

        return Snapshots.read(self / SNAPSHOTS)

    @cached_property
    def warm_snapshots(self) -> Snapshots | None:
        """The snapshots of the warm-up; None if the run's own snapshots contain the warm-up."""
        from s80lab.results.snapshots import Snapshots

        name = self.manifest.get("warm_snapshots")
        return Snapshots.read(self / name) if name else None

    @cached_property
    def wanted(self) -> dict[str, Any]:
        """The table [guest] of the run's machine file; empty if the run has no machine file."""
        path = self / MACHINE
        return dict(read_toml(path).get("guest", {})) if path.is_file() else {}

    @cached_property
    def misses(self) -> list[dict[str, Any]]:
        """The tables of the run's attributed misses (misses.json); empty if the file does not exist.

        UserError if the file is not one that s80lab wrote. Versions of s80lab before the key `logs` of the manifest
        wrote the list of tables alone, without a hash.
        """
        path = self / MISS_TABLES
        if not path.exists():
            return []
        again = f"`s80lab misses {self.path.name}` writes the file again"
        content = _json(path, again)
        if isinstance(content, list) and "logs" not in self.manifest:
            return content
        if not isinstance(content, dict) or content.get("sha256") != value_hash(content.get("tables")):
            raise UserError(f"{path}: is not a file that s80lab wrote for this run; {again}")
        return list(content["tables"])

    def derived(self) -> dict[str, FileRecord]:
        """Sizes and hashes of the files that were computed from the log of misses, as misses.json lists them; empty if
        misses.json does not exist or is damaged."""
        try:
            content = _json(self / MISS_TABLES, "")
            if not isinstance(content, dict) or content["sha256"] != value_hash(content["tables"]):
                return {}
            return {str(name): validate(record, FileRecord, name) for name, record in content["files"].items()}
        except (UserError, LookupError, AttributeError, TypeError):
            return {}

    def has_misses(self) -> bool:
        """Whether the folder holds a log of misses and a map of the guest's memory."""
        return (self / MISS_LOG).is_file() and (self / MEMORY_MAP).is_file()

    def has_profile(self) -> bool:
        """Whether the folder holds a profile and a map of the guest's memory."""
        return (self / PROFILE).is_file() and (self / MEMORY_MAP).is_file()

    def write_manifest(self, manifest: Mapping[str, Any]) -> None:
        """Write manifest.json completely or not at all."""
        partial = self / f"{MANIFEST}.partial"
        partial.write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
        partial.replace(self / MANIFEST)
        self.__dict__.pop("manifest", None)


def _is_transaction(entry: Any) -> bool:
    """Whether the entry of a transaction type has what reports read."""
    try:
        counts = [entry[key] for key in ("count", "failed", "substituted")]
        buckets = [int(upper) >= 0 and int(count) >= 0 for upper, count in entry["histogram"]]
        return all(type(count) is int and count >= 0 for count in counts) and all(
            [*buckets, math.isfinite(entry["latency_ns"]["mean"])]
        )
    except (LookupError, TypeError, ValueError, OverflowError):
        return False


def _check_number(path: Path, key: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UserError(f"{path}: the value of `{key}` must be a number, not {_short(value)}; repeat the run")
    if not (math.isfinite(value) and abs(value) < LARGEST):
        raise UserError(f"{path}: the value of `{key}` must be a number of at most 64 bits; repeat the run")


def _short(value: object) -> str:
    """A value for a message, in 40 characters at most."""
    text = ascii(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not a number")


def renewed(value: Any) -> Any:
    """The content of manifest.json or stats.json of schema 1, with the keys and the verdicts of schema 2."""
    if isinstance(value, list):
        return [renewed(item) for item in value]
    if not isinstance(value, dict):
        return value
    new = {RESULT_KEYS.get(key, key): renewed(item) for key, item in value.items()}
    if isinstance(verdict := new.get("verdict"), str):
        new["verdict"] = VERDICTS.get(verdict, verdict)
    return new


def _json(path: Path, remedy: str = "repeat the run") -> Any:
    """The content of a JSON file. UserError if it cannot be read. remedy: what to do then."""
    try:
        return json.loads(read_regular(path, LARGEST_FILE, remedy), parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise UserError(f"{path}, line {error.lineno}: is not JSON ({error.msg}); {remedy}") from None
    except RecursionError:
        raise UserError(f"{path}: is not a file of s80lab (too many nested brackets); {remedy}") from None
    except ValueError as error:
        raise UserError(f"{path}: cannot be read ({error}); {remedy}") from None


def _read(path: Path, keys: Sequence[str], schemas: Sequence[int] = (1, SCHEMA)) -> dict[str, Any]:
    value = _json(path)
    if not isinstance(value, dict):
        raise UserError(f"{path}: the file must contain a JSON object; repeat the run")
    schema = value.get("schema")
    if isinstance(schema, bool) or schema not in schemas:
        known = " and ".join(map(str, schemas))
        raise UserError(f"{path}: has schema {schema}, but this version of s80lab reads schema {known}; repeat the run")
    if schema != schemas[-1]:
        value = {**renewed(value), "schema": schemas[-1]}
    for key in keys:
        if key not in value:
            raise UserError(f"{path}: the key `{key}` is missing; repeat the run with this version of s80lab")
    return value
