# SPDX-License-Identifier: GPL-2.0-or-later
"""Several captures of one experiment: recordings of different seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from s80lab.base.errors import UserError
from s80lab.base.store import Store
from s80lab.base.strict import shown
from s80lab.capture.store import STORE, SUFFIX, Capture, Form, Manifest, open_capture

# What captures of one experiment have in common.
_COMMON: Mapping[str, Callable[[Capture], object]] = {
    "experiment": lambda capture: capture.origin.get("experiment"),
    "scale": lambda capture: capture.origin.get("scale"),
    "form": lambda capture: capture.form,
    "machine": lambda capture: capture.machine.resolved(),
}


def open_captures(name: str, form: Form | None, seeds: Sequence[int], store: Store[Manifest] = STORE) -> list[Capture]:
    """Open the captures that `name` lists with commas; with seeds, the capture of each seed whose name begins with it.

    UserError if no such capture exists, if several fit, if a capture is named twice, or if they differ in more than
    the seed.
    """
    parts = name.split(",")
    if not seeds:
        captures = [open_capture(part, form, store) for part in parts]
    elif len(parts) > 1 or name.endswith(SUFFIX):
        raise UserError(
            f"--seeds selects captures by the beginning of their names, but {name} names captures; omit --seeds"
        )
    else:
        captures = [open_capture(_of_seed(name, seed, store), form, store) for seed in seeds]
    hashes = [capture.sha256 for capture in captures]
    twice = next((capture for capture in captures if hashes.count(capture.sha256) > 1), None)
    if twice is not None:
        raise UserError(f"{name}: the capture {twice.name} is named twice; name each capture once")
    for capture in captures[1:]:
        if unlike := next((word for word, of in _COMMON.items() if of(capture) != of(captures[0])), None):
            raise UserError(
                f"{name}: the captures {captures[0].name} and {capture.name} differ in the {unlike}; name captures "
                "that differ in the seed only"
            )
    return captures


def _of_seed(name: str, seed: int, store: Store[Manifest]) -> str:
    fitting = [one for one in store.all() if one.name.startswith(name) and one.seed == seed]
    if not fitting:
        raise UserError(
            f"no capture of seed {seed} in {shown(store.root())} has a name that begins with `{name}`: record it "
            f"with `s80lab capture {name} --seed {seed}`, or omit the seed"
        )
    if len(fitting) > 1:
        raise UserError(
            f"several captures of seed {seed} begin with `{name}`: {', '.join(one.name for one in fitting)}; write "
            "more of the name"
        )
    return fitting[0].name
