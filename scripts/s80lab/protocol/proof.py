# SPDX-License-Identifier: GPL-2.0-or-later
"""Proofs and refusals of protocols.

build/proofs keeps them by the hash of the Murphi model, which covers table and generator.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from s80lab.base import host, paths
from s80lab.base.errors import UserError
from s80lab.base.hashing import text_hash
from s80lab.base.strict import Strict, short_path
from s80lab.base.terminal import say
from s80lab.protocol.counterexample import Counterexample, counterexample
from s80lab.protocol.murphi import coexistence_pairs, coverable, murphi, together
from s80lab.protocol.murphi_check import Exploration, explore
from s80lab.protocol.table import Protocol, load_protocol

CACHES = 3
FEWEST_CACHES, MOST_CACHES = 2, 6
"""Numbers of caches for which `s80lab protocol check` can prove a table."""
RECORD = Path(__file__).with_name("proven.json")
"""The shipped protocols that are proven: name and hash of the Murphi model, as `s80lab protocol docs` writes them."""

PROVEN, REFUSED = ".json", ".refused.json"
"""How the names of stored proofs and of stored refusals end."""
_EXPLORATION = TypeAdapter(Exploration)


class Proof(Strict):
    """A proof that all invariants hold in all reachable states. seconds: duration of the proof with compilation."""

    protocol: str
    model: str
    caches: int
    states: int
    rules_fired: int
    seconds: float
    unreached: list[str]
    coexisting: list[tuple[str, str]]

    def together(self, first: str, second: str) -> bool:
        """Whether two caches can hold one block in these two states at the same time."""
        return (first, second) in self.coexisting or (second, first) in self.coexisting


@dataclass(frozen=True)
class Verdict:
    """The result for one file: a proof or a counterexample. stored: the date of a stored proof (UTC); empty if the
    proof was made now."""

    path: Path
    protocol: Protocol
    proof: Proof | None
    counterexample: Counterexample | None
    stored: str = ""


def ensure_proven(path: Path) -> Proof:
    """Returns the stored proof of a protocol's file, or proves it now. UserError if the table violates an invariant.

    With a stored proof this takes some milliseconds: it reads the table and generates the Murphi model.
    """
    verdict = prove(path, stage=_tell(path))
    if verdict.proof is None:
        assert verdict.counterexample is not None
        fault = verdict.counterexample.fault
        raise UserError(
            f"{short_path(path)}: the protocol violates the invariant `{fault.law}`: {fault.sentence}; "
            f"`s80lab protocol check {path}` shows a shortest counterexample"
        )
    return verdict.proof


def objection(path: Path) -> str | None:
    """Why no run would use the table in this file: a sentence for people who play the table nevertheless.

    None if the table is proven: it equals a shipped table (RECORD), a proof is stored, or the proof succeeds now. If
    the checker cannot run, the sentence says so.
    """
    protocol = load_protocol(path)
    if text_hash(murphi(protocol, CACHES)) in shipped_proofs().values():
        return None
    try:
        verdict = prove(path, stage=_tell(path))
    except UserError as error:
        return f"protocol {protocol.name} is not checked: {error}"
    if verdict.counterexample is None:
        return None
    law = verdict.counterexample.fault.law
    return (
        f"protocol {protocol.name} is refused: it violates the invariant `{law}`; `s80lab protocol check {path}` "
        "shows a counterexample"
    )


def shipped_proofs() -> dict[str, str]:
    """The hash of the Murphi model of each shipped protocol. The tests prove these models."""
    recorded: dict[str, str] = json.loads(RECORD.read_text(encoding="utf-8"))
    return recorded


def _tell(path: Path) -> Callable[[str], None]:
    def tell(stage: str) -> None:
        if stage == "generating":
            say(f"s80lab: proving the invariants of the protocol {short_path(path)}")

    return tell


def prove(
    path: Path, caches: int = CACHES, *, again: bool = False, stage: Callable[[str], None] = lambda stage: None
) -> Verdict:
    """Returns the stored verdict or checks the table; `again` ignores stored verdicts. `stage` receives progress."""
    protocol = load_protocol(path)
    model = murphi(protocol, caches)
    key = text_hash(model)
    found = None if again else kept_proof(key)
    if found is not None:
        return Verdict(path, protocol, found, None, _proof_date(key))
    result = None if again else _kept_refusal(key)
    began = time.monotonic()
    if result is None:
        result = explore(model, stage)
    if result.error is not None:
        _keep(key, REFUSED, _EXPLORATION.dump_json(result, indent=1), model)
        return Verdict(path, protocol, None, counterexample(protocol, result))
    proof = Proof(
        protocol=protocol.name,
        model=key,
        caches=caches,
        states=result.states,
        rules_fired=result.rules_fired,
        seconds=round(time.monotonic() - began, 3),
        unreached=[place for place in coverable(protocol) if not result.covered.get(place)],
        coexisting=[pair for pair in coexistence_pairs(protocol) if result.covered.get(together(*pair))],
    )
    _keep(key, PROVEN, proof.model_dump_json(indent=1).encode(), model)
    return Verdict(path, protocol, proof, None)


def prove_all(
    files: Sequence[Path], caches: int, again: bool, stage: Callable[[Path, str], None]
) -> list[Verdict | UserError]:
    """Proves several files in parallel, one per host core. A file that cannot be read or checked yields a UserError."""

    def one(path: Path) -> Verdict | UserError:
        try:
            return prove(path, caches, again=again, stage=lambda text: stage(path, text))
        except UserError as error:
            return error

    with ThreadPoolExecutor(host.cores()) as pool:
        return list(pool.map(one, files))


def proven(protocol: Protocol) -> Proof | None:
    """The stored proof of a table for the largest number of caches, or None."""
    proofs = (kept_proof(text_hash(murphi(protocol, caches))) for caches in range(MOST_CACHES, FEWEST_CACHES - 1, -1))
    return next((proof for proof in proofs if proof is not None), None)


def kept_proof(key: str) -> Proof | None:
    """The stored proof for the hash of a Murphi model; None if it is absent or unreadable."""
    try:
        return Proof.model_validate_json((folder() / f"{key}{PROVEN}").read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValidationError):
        return None


def _proof_date(key: str) -> str:
    seconds = (folder() / f"{key}{PROVEN}").stat().st_mtime
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()


def _kept_refusal(key: str) -> Exploration | None:
    try:
        return _EXPLORATION.validate_json((folder() / f"{key}{REFUSED}").read_bytes())
    except (OSError, ValidationError):
        return None


def folder() -> Path:
    """The folder of stored proofs and their Murphi models ($S80LAB_PROOFS overrides it)."""
    return Path(os.environ.get("S80LAB_PROOFS", paths.BUILD / "proofs"))


def _keep(key: str, suffix: str, verdict: bytes, model: str) -> None:
    folder().mkdir(parents=True, exist_ok=True)
    for end, content in ((".m", model.encode()), (suffix, verdict + b"\n")):
        final = folder() / f"{key}{end}"
        partial = final.with_name(f"{final.name}.partial-{os.getpid()}")
        partial.write_bytes(content)
        partial.rename(final)


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
