# SPDX-License-Identifier: GPL-2.0-or-later
"""The inputs of a checkpoint that depend on the host: why a checkpoint of another host or build cannot be used here.

QEMU, the plugin, the guest's image and the scripts for gem5 belong to the installation. All other inputs, for example
the machine, belong to the experiment: a command chooses them.
"""

from __future__ import annotations

from collections.abc import Mapping

from s80lab.base import paths
from s80lab.base.hashing import file_hash
from s80lab.experiment.checkpoint import STORE, Manifest, Wanted
from s80lab.guest.qemu import Qemu, present_qemu
from s80lab.image.build import all_images

HASH_DIGITS = 8
"""Digits of the key at the end of a checkpoint's name."""
_OF_READY = "ready"
"""The input of a warm checkpoint that summarises those of its ready checkpoint."""


def missing_inputs(manifest: Manifest) -> dict[str, str]:
    """The inputs of a checkpoint that this installation lacks: a text for messages, by name of the input.

    A host without QEMU fetches one in its first run. Until then its QEMU is not compared.
    """
    images, qemu = all_images(), present_qemu()
    here: dict[str, tuple[set[str], str]] = {
        "kernel": ({one.vmlinuz_sha256 for one in images}, "kernel"),
        "initramfs": ({one.initramfs_sha256 for one in images}, "initramfs"),
    }
    if qemu:
        here["qemu"] = {qemu.binary_hash}, _qemu_text(manifest, qemu)
    if paths.PLUGIN.is_file():
        here["plugin"] = {file_hash(paths.PLUGIN)}, "plugin"
    for name in manifest.inputs:
        if name.startswith("configs/gem5/") and (paths.ROOT / name).is_file():
            here[name] = {file_hash(paths.ROOT / name)}, name
    return {name: here[name][1] for name, hash in manifest.inputs.items() if name in here and hash not in here[name][0]}


def why_unused(wanted: Wanted) -> str:
    """One sentence about a checkpoint that another installation made for the same purpose. Empty if there is none.

    wanted: a checkpoint that does not exist.
    """
    prefix = wanted.name[:-HASH_DIGITS]
    others = [
        one
        for one in STORE.all()
        if one.stage == wanted.stage and one.name[:-HASH_DIGITS] == prefix and one.key != wanted.key
    ]
    nearest = min(filter(STORE.present, others), key=lambda one: len(_differing(one, wanted.inputs)), default=None)
    if nearest is None or not (lacking := missing_inputs(nearest)):
        return ""
    names = [lacking.get(name, name) for name in _differing(nearest, wanted.inputs)]
    return f"checkpoint {nearest.name} is not used, because these inputs differ: {', '.join(names)}"


def _differing(manifest: Manifest, inputs: Mapping[str, str]) -> list[str]:
    names = dict.fromkeys((*manifest.inputs, *inputs))
    return [name for name in names if name != _OF_READY and manifest.inputs.get(name) != inputs.get(name)]


def _qemu_text(manifest: Manifest, qemu: Qemu) -> str:
    there = manifest.qemu_version
    return f"QEMU (another build of {there})" if there == qemu.version else f"QEMU ({there}, here {qemu.version})"
