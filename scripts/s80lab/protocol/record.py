# SPDX-License-Identifier: GPL-2.0-or-later
"""Protocols, proofs and counterexamples as plain values for JSON."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from s80lab.base.errors import UserError
from s80lab.protocol.proof import Proof, Verdict
from s80lab.protocol.table import Protocol


def protocol_record(protocol: Protocol, proof: Proof | None) -> dict[str, Any]:
    """The table with the keys of its file, and the proof if there is one."""
    return {"table": protocol.model_dump(mode="json", exclude_none=True), "proof": _proof(proof)}


def list_record(name: str, protocol: Protocol | UserError, proof: Proof | None) -> dict[str, Any]:
    """One row of the list of protocols."""
    if isinstance(protocol, UserError):
        return {"name": name, "error": str(protocol)}
    return {
        "name": name,
        "states": list(protocol.states),
        "l2_inclusion": protocol.l2_inclusion or "any",
        "proven": proof is not None,
        "caches": None if proof is None else proof.caches,
        "description": protocol.description,
    }


def verdict_record(verdict: Verdict) -> dict[str, Any]:
    """A file's proof or its shortest counterexample."""
    found = verdict.counterexample
    return {
        "file": str(Path(verdict.path)),
        "protocol": verdict.protocol.name,
        "proof": _proof(verdict.proof),
        "counterexample": None if found is None else asdict(found),
    }


def _proof(proof: Proof | None) -> dict[str, Any] | None:
    return None if proof is None else proof.model_dump(mode="json")
