# SPDX-License-Identifier: GPL-2.0-or-later
"""The store of captures (see base/store.py), and opening a capture by name or path."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn, get_args

from pydantic import Field

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.files import check_name
from s80lab.base.hashing import file_hash
from s80lab.base.store import Store, StoredManifest
from s80lab.base.strict import Strict, short_path, validate
from s80lab.base.suggest import hint
from s80lab.config.machine import Machine, load_machine_text
from s80lab.results.run_folder import MANIFEST, PROTOCOL, WARM_SNAPSHOTS
from s80lab.trace.source import kind_of, trace_stem
from s80lab.trace.tool import capture_info

Count = Annotated[int, Field(ge=0, lt=1 << 63)]
"""A number that the database can hold."""


class Origin(Strict, strict=True, extra="ignore", allow_inf_nan=False):
    """The keys that s80lab reads, with their types. All are optional; other keys are passed over."""

    capture: str = ""
    experiment: str = ""
    workload: str = ""
    image: str = ""
    server: str = ""
    scale: str = ""
    seed: Count = 0
    skip: Count = 0
    measure: Count = 0
    program: list[str] = Field(default_factory=list)
    clients: Count | None = None
    think_ms: float | None = None
    versions: dict[str, str] = Field(default_factory=dict)


def read_origin(text: str, where: str) -> Mapping[str, Any]:
    """The origin as it stands in the header; an empty text has no keys.

    where: the capture, for messages. UserError if the text is not a JSON object, or if a key has another type.
    """
    try:
        content = json.loads(text or "{}", parse_constant=_refuse)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise UserError(
            f"{where}: the origin in the header of the capture is not a JSON object, so the file is damaged or another "
            "program wrote it; use another copy"
        )
    validate(content, Origin, f"{where}: origin in the header of the capture")
    return content


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


Form = Literal["filtered", "full"]
FORMS: tuple[Form, ...] = get_args(Form)
SUFFIX = ".s80c"


class Totals(Strict):
    """Contents of one capture file, and the differences between its replay and the live run (in points; mpki in
    percent).

    accesses: line accesses of the guest, recorded or not. replay_mips: million instructions per second on one core.
    identical: the replay reproduced the live run's snapshots.
    """

    bytes: int
    events: int
    accesses: int
    instructions: int
    replay_mips: float
    identical: bool
    differences: dict[str, float | None]

    @property
    def bytes_per_access(self) -> float:
        return self.bytes / self.accesses if self.accesses else 0.0


class Manifest(StoredManifest):
    """Manifest of a capture. skip, measure: instructions before and in the measured region. start: its checkpoint."""

    schema_version: Literal[1] = 1
    experiment: str
    scale: str
    seed: int
    start: Literal["ready", "warm"]
    skip: int
    measure: int
    live_mips: float
    forms: dict[Form, Totals]

    @property
    def required(self) -> tuple[str, ...]:
        warm_up = (WARM_SNAPSHOTS,) if self.start == "warm" else ()
        return (*(f"{form}{SUFFIX}" for form in self.forms), PROTOCOL, *warm_up)


STORE = Store(paths.captures, Manifest)


@dataclass(frozen=True)
class Capture:
    """The header of an opened capture file. warm: the capture begins with the caches of a warm checkpoint."""

    path: Path
    form: Form
    machine: Machine
    origin: Mapping[str, Any]
    warm: bool

    @property
    def name(self) -> str:
        """The name that run ids and reports use."""
        return str(self.origin.get("capture", self.path.stem))

    @property
    def live(self) -> Path | None:
        """The folder of the live run, if the file is still in it."""
        return self.path.parent if (self.path.parent / MANIFEST).is_file() else None

    @cached_property
    def warm_up(self) -> tuple[Path, str] | None:
        """The file of the warm-up's snapshots before the capture, and its hash; None if there is no such file."""
        path = self.path.parent / WARM_SNAPSHOTS
        return (path, file_hash(path)) if self.warm and path.is_file() else None

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the file. If the file is in the store, all files of its capture are compared with the store's
        manifest. UserError if one has changed."""
        manifest = STORE.find(self.path.parent.name)
        if manifest is not None and STORE.folder(manifest.name) == self.path.parent:
            return manifest.files[self.path.name].sha256
        return file_hash(self.path)


def open_capture(name: str, form: Form | None = None, store: Store[Manifest] = STORE) -> Capture:
    """Open a capture by its name, a unique beginning of its name, or a path that ends in .s80c.

    A capture with both forms is opened as filtered unless `form` names the other. Raises UserError if there is no such
    capture, or if a file of it has changed.
    """
    if name.endswith(SUFFIX):
        capture = _read(Path(name))
        if form not in (None, capture.form):
            raise UserError(
                f"{short_path(capture.path)}: is a {capture.form} capture, but a {form} one is needed; name the file "
                f"of a {form} capture, or a capture of the lab with this form"
            )
        return capture
    _refuse_trace(Path(name))
    manifest = _named(name, store)
    chosen = form or next(one for one in FORMS if one in manifest.forms)
    if chosen not in manifest.forms:
        raise UserError(
            f"the capture {manifest.name} has only the form {', '.join(manifest.forms)}, not the form "
            f"{chosen}; record a capture of this form with `s80lab capture {manifest.experiment} --form "
            f"{chosen}`"
        )
    return _read(store.folder(manifest.name) / f"{chosen}{SUFFIX}")


def _refuse_trace(path: Path) -> None:
    """UserError if the name is the path of a file: how to make a capture of a trace."""
    if not path.is_file():
        return
    kind = kind_of(path)
    raise UserError(
        f"{path} is a trace, not a capture; import it first: "
        f"s80lab trace import {shlex.quote(str(path))} --format {kind} --out {shlex.quote(trace_stem(path))}.s80c"
    )


def _named(name: str, store: Store[Manifest]) -> Manifest:
    manifests = {one.name: one for one in store.all()}
    fitting = [one for one in manifests if one == name] or [one for one in manifests if one.startswith(name)]
    if not manifests:
        raise UserError(f"there is no capture in {short_path(store.root())}; record one with `s80lab capture imapb`")
    if not fitting:
        raise UserError(f"there is no capture `{name}` in {short_path(store.root())}: {hint(name, manifests)}")
    if len(fitting) > 1:
        raise UserError(
            f"the names of several captures begin with `{name}`: {', '.join(fitting)}; write more of the name"
        )
    manifest = manifests[fitting[0]]
    if store.find(manifest.name) is None:
        raise UserError(
            f"the capture {manifest.name} cannot be used ({store.why_built_again(manifest.name) or 'no files'}); "
            f"record the capture again with `s80lab capture {manifest.experiment} --scale {manifest.scale} --seed "
            f"{manifest.seed} --again`"
        )
    return manifest


def _read(path: Path) -> Capture:
    if not path.is_file():
        raise UserError(
            f"there is no capture file {short_path(path)}; `s80lab captures list` shows the captures of the lab"
        )
    content = capture_info(path)
    if not content["accesses"]:
        raise UserError(
            f"{short_path(path)}: the trace contains no access, so there is nothing to play; record it again"
        )
    origin = read_origin(content["origin"], short_path(path))
    if "capture" in origin:
        check_name(origin["capture"], f"{short_path(path)}: origin in the header of the capture", "use another copy")
    else:
        check_name(path.stem, short_path(path), "rename the file")
    return Capture(
        path=path,
        form="filtered" if content["form"] == "filtered" else "full",
        machine=load_machine_text(content["machine"], f"the machine in the header of {short_path(path)}"),
        origin=origin,
        warm=content["warm"],
    )


def error_sentence(stderr: str) -> str:
    """The error message on the last line of a program's stderr, without the program's name."""
    lines = [line for line in stderr.splitlines() if line.strip()]
    return lines[-1].partition(": ")[2] if lines else "the program failed without a message"
