# SPDX-License-Identifier: GPL-2.0-or-later
"""The inputs of a checkpoint that depend on the host: why a checkpoint of another host or build cannot be used here.

QEMU, the plugin, the guest's image and the scripts for gem5 belong to the installation. All other inputs, for example
the machine, belong to the experiment: a command chooses them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from s80lab.base import paths
from s80lab.base.hashing import file_hash
from s80lab.experiment.checkpoint import STORE, Manifest, Wanted
from s80lab.experiment.plan import P, Until, missing
from s80lab.guest.qemu import present_qemu
from s80lab.image.build import all_images

GEM5_SCRIPTS = "configs/gem5"
HASH_DIGITS = 8
"""Digits of the key at the end of a checkpoint's name."""
_OF_READY = "ready"
"""The input of a warm checkpoint that summarises those of its ready checkpoint."""


class Installation:
    """QEMU, plugin and images of this lab, looked at once.

    A host without QEMU fetches one in its first run. Until then its QEMU is not compared.
    """

    def __init__(self) -> None:
        images, self._qemu = all_images(), present_qemu()
        self._hashes = {
            "kernel": {image.vmlinuz_sha256 for image in images},
            "initramfs": {image.initramfs_sha256 for image in images},
        }
        if self._qemu:
            self._hashes["qemu"] = {self._qemu.binary_hash}
        if paths.PLUGIN.is_file():
            self._hashes["plugin"] = {file_hash(paths.PLUGIN)}
        for script in sorted((paths.ROOT / GEM5_SCRIPTS).glob("*.py")):
            self._hashes[f"{GEM5_SCRIPTS}/{script.name}"] = {file_hash(script)}

    def missing_inputs(self, manifest: Manifest) -> dict[str, str]:
        """The inputs of a checkpoint that this installation lacks: a text for messages, by name of the input."""
        return {
            name: self._text(name, manifest)
            for name, hash in manifest.inputs.items()
            if hash not in self._hashes.get(name, {hash})
        }

    def _text(self, name: str, manifest: Manifest) -> str:
        there = manifest.qemu_version
        if name != "qemu" or self._qemu is None:
            return name
        same = there == self._qemu.version
        return f"QEMU (another build of {there})" if same else f"QEMU ({there}, here {self._qemu.version})"


def unused(plans: Sequence[P], until: Until = "run") -> list[str]:
    """One sentence for each missing checkpoint of these plans that the store has from another installation."""
    stored = [manifest for manifest in STORE.all() if STORE.present(manifest)]
    if not stored:
        return []
    here = Installation()
    absent = missing(plans, until).items()
    wanted = [plan.keys.wanted("ready" if name == plan.keys.ready.name else "warm") for name, plan in absent]
    return [why for one in wanted if (why := _why_unused(one, stored, here))]


def _why_unused(wanted: Wanted, stored: Sequence[Manifest], here: Installation) -> str:
    """A sentence about the stored checkpoint that is nearest to the wanted one, or an empty text.

    Two checkpoints whose names differ in the hash only have the same purpose.
    """
    prefix = wanted.name[:-HASH_DIGITS]
    others = [one for one in stored if one.stage == wanted.stage and one.name[:-HASH_DIGITS] == prefix]
    nearest = min(others, key=lambda one: len(_differing(one, wanted.inputs)), default=None)
    if nearest is None or not (lacking := here.missing_inputs(nearest)):
        return ""
    names = [lacking.get(name, name) for name in _differing(nearest, wanted.inputs)]
    return f"checkpoint {nearest.name} is not used, because these inputs differ: {', '.join(names)}"


def _differing(manifest: Manifest, inputs: Mapping[str, str]) -> list[str]:
    names = dict.fromkeys((*manifest.inputs, *inputs))
    return [name for name in names if name != _OF_READY and manifest.inputs.get(name) != inputs.get(name)]
