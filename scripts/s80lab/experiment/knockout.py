# SPDX-License-Identifier: GPL-2.0-or-later
"""Ablation of the changes to the guest: what each change contributes, alone and with all others.

`configs/knockouts.toml` states how to remove each change from a machine: words of the kernel's command line that are
left out, and values of the machine file that are restored. A variant of the machine has some of the changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import Field, model_validator

from s80lab.base.errors import UserError
from s80lab.base.strict import Strict, validate
from s80lab.config.experiment import Phases
from s80lab.config.grid import ablation
from s80lab.config.machine import Machine


class Change(Strict):
    """A change to the guest and how to remove it. words: words of `guest.kernel_args`; settings: machine file keys."""

    description: str
    words: tuple[str, ...] = ()
    settings: dict[str, str | int | float] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _does_something(self) -> Change:
        if not self.words and not self.settings:
            raise ValueError(
                "`words` and `settings` are both missing, so the ablation would remove nothing: add one of them"
            )
        return self


class Changes(Strict):
    """The contents of the file, in file order. lengths: for each scale, values that replace the experiment's phases."""

    changes: dict[str, Change]
    lengths: dict[str, dict[str, int | float]] = Field(default_factory=dict)

    def lengthened(self, phases: Phases, scale: str) -> Phases:
        """The phases of a variant's runs. Raises UserError if `lengths` does not fit the phases."""
        return validate(phases.model_dump() | self.lengths.get(scale, {}), Phases, f"knockouts.toml: lengths.{scale}")


@dataclass(frozen=True)
class Variant:
    """A machine with some of the changes. settings: values over the machine file that remove the other changes."""

    name: str
    settings: Mapping[str, object]


def variants(changes: Mapping[str, Change], machine: Machine) -> list[Variant]:
    """Variants with no change, with each change alone and with all. UserError if a word is not in `kernel_args`."""
    return [Variant(label, _taken_out(changes, kept, machine)) for label, kept in ablation(list(changes)).items()]


def _taken_out(changes: Mapping[str, Change], kept: Sequence[str], machine: Machine) -> dict[str, object]:
    out = [change for name, change in changes.items() if name not in kept]
    settings: dict[str, object] = {key: value for change in out for key, value in change.settings.items()}
    words = machine.guest.kernel_args.split()
    gone = {word for change in out for word in change.words}
    missing = gone - set(words)
    if missing:
        raise UserError(
            f"configs/knockouts.toml removes the kernel arguments {', '.join(sorted(missing))}, which are not "
            f"in guest.kernel_args of machine {machine.name}: correct one of the two files"
        )
    if gone:
        settings["guest.kernel_args"] = " ".join(word for word in words if word not in gone)
    return settings
