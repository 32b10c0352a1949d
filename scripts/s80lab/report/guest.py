# SPDX-License-Identifier: GPL-2.0-or-later
"""One sentence that identifies the guest of a report: the programs in it that determine the numbers.

Debian replaces packages, so the same commit of s80lab may measure a different guest a month later. The sentence shows a
reader of two reports whether both used the same guest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from s80lab.analysis.groups import Group
from s80lab.base.hashing import value_hash
from s80lab.report.tables import Cell, Row, Table
from s80lab.results.run_folder import FIRST_SERVER

# Keys of a run's versions that are not packages of the guest.
_NOT_OF_THE_GUEST = ("s80lab", "qemu", "gem5", "kernel")
# Programs in the sentence: label, and key in a run's versions.
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
MOST_NOTES = 3
"""A page with more guests lists them in a table at its end."""


def guest_notes(groups: Sequence[Group], name: Callable[[Group], str] = lambda group: group.label) -> list[str]:
    """`Guest: Linux 6.1.0-50-cloud-amd64, Dovecot ...`. Several guests: one sentence per guest, with the `name` of each
    of its groups. Empty if no guest is known (a replayed trace has none)."""
    guests: dict[str, list[str]] = {}
    for group in groups:
        for run in group.runs:
            labels = guests.setdefault(_described(run.manifest), [])
            if name(group) not in labels:
                labels.append(name(group))
    if len(guests) == 1:
        return [f"Guest: {guest}." for guest in guests if guest]
    return [f"Guest of {', '.join(labels)}: {guest or 'unknown'}." for guest, labels in guests.items()]


def guests_of_page(
    groups: Sequence[Group], name: Callable[[Group], str] = lambda group: group.label
) -> tuple[list[str], list[Table]]:
    """The guests as notes at the beginning of a page; of more than MOST_NOTES, as a table for the end of the page and
    one note."""
    notes = guest_notes(groups, name)
    if len(notes) <= MOST_NOTES:
        return notes, []
    table = Table("Guests", ("programs",))
    for note in notes:
        label, _, programs = note.removeprefix("Guest of ").partition(": ")
        table.rows.append(Row(label, (Cell(programs),)))
    return [f"The runs are of {len(notes)} guests. The last section lists their programs."], [table]


def packages_hash(packages: Mapping[str, str]) -> str:
    """First digits of the SHA-256 over the names and versions of the guest's packages."""
    return value_hash(dict(packages))[:DIGITS]


def _described(manifest: Mapping[str, Any]) -> str:
    versions: Mapping[str, str] = manifest["versions"]
    packages = {name: version for name, version in versions.items() if name not in _NOT_OF_THE_GUEST}
    image = manifest["inputs"].get("initramfs")
    words = [f"{label} {versions[key]}" for label, key in _SHOWN if key in versions]
    words += [f"packages {packages_hash(packages)}"] if packages else []
    words += [f"image {str(image)[:DIGITS]}"] if image else []
    words += [f"server {manifest['server']}"] if words and manifest["server"] not in (FIRST_SERVER, "-") else []
    engines = [f"{label} {versions[key]}" for label, key in _ENGINES if key in versions]
    return ", ".join(words) + (f"; under {', '.join(engines)}" if words and engines else "")
