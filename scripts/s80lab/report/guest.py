# SPDX-License-Identifier: GPL-2.0-or-later
"""Which guest a report is of: the programs that decide its numbers, in one sentence.

Debian replaces packages, so the same commit measures another guest a month later; whoever compares two reports sees by
this sentence whether it was the same one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from s80lab.base.folder import FIRST_SERVER
from s80lab.base.hashing import value_hash
from s80lab.report.data import Group

# What of a run's versions is no package of the guest.
_NOT_OF_THE_GUEST = ("s80lab", "qemu", "gem5", "kernel")
# Names in the sentence, and the keys of a run's versions.
_SHOWN = (
    ("Buildroot", "buildroot"),
    ("Linux", "kernel"),
    ("Dovecot", "dovecot-core"),
    ("Cyrus", "cyrus-imapd"),
    ("Courier", "courier-imap"),
    ("OpenSMTPD", "opensmtpd"),
    ("OpenSSL", "libssl3"),
    ("glibc", "libc6"),
)
_ENGINES = (("QEMU", "qemu"), ("gem5", "gem5"))
DIGITS = 12


def guest_notes(groups: Sequence[Group], name: Callable[[Group], str] = lambda group: group.label) -> list[str]:
    """`Guest: Linux 6.1.0-50-cloud-amd64, Dovecot ...`; one sentence a guest where there are several, with the
    `name` of each of its groups; none where none is known (a replayed trace has none)."""
    guests: dict[str, list[str]] = {}
    for group in groups:
        for run in group.runs:
            labels = guests.setdefault(_described(run.manifest), [])
            if name(group) not in labels:
                labels.append(name(group))
    if len(guests) == 1:
        return [f"Guest: {guest}." for guest in guests if guest]
    return [f"Guest of {', '.join(labels)}: {guest or 'not known'}." for guest, labels in guests.items()]


def packages_hash(packages: Mapping[str, str]) -> str:
    """SHA-256 over the names and versions of the guest's packages, its first digits."""
    return value_hash(dict(packages))[:DIGITS]


def _described(manifest: Mapping[str, Any]) -> str:
    versions: Mapping[str, str] = manifest["versions"]
    packages = {name: version for name, version in versions.items() if name not in _NOT_OF_THE_GUEST}
    image = manifest["inputs"].get("initramfs")
    words = [f"{label} {versions[key]}" for label, key in _SHOWN if key in versions]
    words += [f"packages {packages_hash(packages)}"] if packages else []
    words += [f"image {str(image)[:DIGITS]}"] if image else []
    words += [f"server {manifest['server']}"] if words and manifest["server"] != FIRST_SERVER else []
    engines = [f"{label} {versions[key]}" for label, key in _ENGINES if key in versions]
    return ", ".join(words) + (f"; under {', '.join(engines)}" if words and engines else "")
