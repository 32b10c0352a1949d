# SPDX-License-Identifier: GPL-2.0-or-later
"""The Python reader and the model's loader accept and refuse the same files, and see the same order of states."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from tests.protocol.tables import NAMES

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.protocol.table import find_protocol, load_protocol

pytestmark = pytest.mark.usefixtures("proofs")

CHECK = paths.BUILD / "bin" / "protocol-check"
REFUSED = "refused"

# The text in moesi to replace, its replacement, and the reader's message; None: still a valid table.
EDITS = [
    ("", "", None),
    ('name = "moesi"', 'name = ""', "name"),
    ('name = "moesi"\n', "", "the key `name` is missing"),
    ('name = "moesi"', 'name = "moesi"\nl2_inclusion = "exclusive"', None),
    ('name = "moesi"', 'name = "moesi"\nl2_inclusion = "both"', "l2_inclusion"),
    ('name = "moesi"', 'name = "moesi"\nsuorce = "x"', r"unknown key `suorce`.*did you mean source\?"),
    ('name = "moesi"', 'name = "moesi"\nlicense = "x"', "unknown key `license`"),
    ("[states.O]", "[states.O.x]", "unknown key `states.O.x`"),
    ("[states.O]", '[states."O+"]', "a letter followed by letters"),
    ("[states.S]\n", "[states.S]\nwritable = 1\n", "writable"),
    ("[states.S]\n", '[states.S]\nwritable = "true"\n', "writable"),
    ("[states.I]\n", "[states.I]\nwritable = true\n", "neither `writable` nor `counts_as`"),
    ("[states.I]\n", '[states.I]\ncounts_as = "S"\n', "neither `writable` nor `counts_as`"),
    ("[states.I]\n", '[states.I]\nreadable = true\ncounts_as = "S"\n', "exactly one state"),
    ("[states.I]\n", "[states.I]\nreadable = false\n", None),
    ('counts_as = "O"\nreadable = true', 'counts_as = "O"', "neither `writable` nor `counts_as`"),
    ('counts_as = "O"\n', "", "it needs `counts_as` .*: M, O, E or S"),
    ('counts_as = "O"', 'counts_as = "none"', "counts_as"),
    ("[own.fetch]", "[own.fetches]", "unknown key `own.fetches`"),
    ("[remote.read]", "[remote.peek]", "unknown key `remote.peek`"),
    ('O = { bus = "upgrade", next = "M" }\n', "", r"the cell own.store.O is missing"),
    ('O = { bus = "upgrade", next = "M" }', 'O = "M"', r"own.store.O"),
    ('O = { bus = "upgrade", next = "M" }', 'Q = { bus = "upgrade", next = "M" }', "own.store.O is missing"),
    ('O = { bus = "upgrade", next = "M" }', 'O = { bus = "upgrade" }', "needs `next`"),
    ('O = { bus = "upgrade", next = "M" }', 'O = { bus = "upgrade", alone = "M" }', "needs `next`"),
    ('O = { bus = "upgrade", next = "M" }', 'O = { bus = "upgrade", alone = "M", shared = "O" }', None),
    ('O = { bus = "upgrade", next = "M" }', 'O = { bus = "upgrade", next = "M", alone = "M" }', "both `next` and"),
    ('O = { bus = "upgrade", next = "M" }', 'O = { alone = "M", shared = "O" }', "has no `bus`"),
    ('O = { bus = "upgrade", next = "M" }', 'O = { bus = "steal", next = "M" }', "bus"),
    ('O = { bus = "upgrade", next = "M" }', 'O = { bus = "upgrade", next = "N" }', "the unknown state `N`"),
    ('O = { bus = "upgrade", next = "M" }', 'O = { bus = "upgrade", next = "I" }', "has just accessed"),
    ('O = { bus = "upgrade", next = "M" }', 'O = { next = "M", writeback = true }', "unknown key"),
    ('I = { bus = "rfo", next = "M" }', 'I = { bus = "upgrade", next = "M" }', "an upgrade carries no data"),
    ('I = { bus = "rfo", next = "M" }', 'I = { next = "M" }', "the cell has no `bus`"),
    ('M = { next = "I", writeback = true }', 'M = { next = "S", writeback = true }', "must end in the invalid state"),
    ('M = { next = "I", writeback = true }', 'M = { next = "I", put = true }', r"has no \[home\]"),
    ('M = { next = "I", writeback = true }', 'M = { next = "I", writeback = 1 }', "writeback"),
    ('M = { next = "I", writeback = true }', 'M = { bus = "read", next = "I" }', "unknown key"),
    ('I = { impossible = "an absent block cannot be evicted" }', 'I = { next = "I" }', "cannot be evicted"),
    ('I = { impossible = "an absent block cannot be evicted" }', 'I = { impossible = "" }', "impossible"),
    ('I = { impossible = "an absent block cannot be evicted" }', "I = { impossible = true }", "impossible"),
    ('{ impossible = "an absent', '{ next = "I", impossible = "an absent', "must not have other keys"),
    ('M = { next = "O", supply = true }', 'M = { next = "O", supply = 1 }', "supply"),
    ('M = { next = "O", supply = true }', "M = { supply = true }", "`next` is missing"),
    ('M = { next = "O", supply = true }', 'M = { next = "O", supply = true, gives = "S" }', None),
    ('M = { next = "O", supply = true }', 'M = { next = "I", supply = true, gives = "E" }', None),
    ('M = { next = "O", supply = true }', 'M = { next = "O", supply = true, gives = "E" }', "for the only copy"),
    ('M = { next = "O", supply = true }', 'M = { next = "O", supply = true, gives = "I" }', "is the invalid state"),
    ('M = { next = "O", supply = true }', 'M = { next = "O", gives = "S" }', "needs supply = true"),
    ('M = { next = "O", supply = true }', 'M = { next = "O", supply = true, bus = "read" }', "unknown key"),
    ('I = { next = "I" }', 'I = { next = "S" }', "a cache without the block cannot change state"),
    ('I = { next = "I" }', 'I = { next = "I", writeback = true }', "a cache without the block cannot change state"),
    ('[remote.upgrade]\nM = { impossible', '[remote.upgrade]\nM = { next = "I", supply = true } #', "carries no data"),
    ("[own.load]", "[own.load", "is not TOML"),
]  # fmt: skip


def loaders_verdicts(files: Iterable[Path]) -> list[str]:
    """For each file the states in order, or `refused ...`, as the C++ loader sees it."""
    done = subprocess.run([CHECK, *files], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def readers_verdict(file: Path) -> str:
    try:
        return " ".join(load_protocol(file).states)
    except UserError as error:
        return f"{REFUSED} {error}"


def differences(files: list[Path]) -> Iterator[tuple[str, str]]:
    """(C++, Python) of each file on which the two do not agree."""
    for theirs, file in zip(loaders_verdicts(files), files, strict=True):
        ours = readers_verdict(file)
        if theirs != ours and not (theirs.startswith(REFUSED) and ours.startswith(REFUSED)):
            yield theirs, ours


@pytest.mark.parametrize(("what", "instead", "said"), EDITS)
def test_reader_and_loader_agree_on_edited_tables(tmp_path: Path, what: str, instead: str, said: str | None) -> None:
    text = find_protocol("moesi").read_text()
    assert what in text
    file = tmp_path / "edited.toml"
    file.write_text(text.replace(what, instead, 1))
    assert list(differences([file])) == []
    if said is None:
        load_protocol(file)
    else:
        with pytest.raises(UserError, match=said) as refusal:
            load_protocol(file)
        assert str(refusal.value).startswith(str(file))


@pytest.mark.parametrize("name", NAMES)
def test_reader_and_loader_agree_with_lines_omitted_or_repeated(tmp_path: Path, name: str) -> None:
    lines = find_protocol(name).read_text().splitlines()
    files = []
    for number in range(len(lines)):
        for kind, middle in (("without", []), ("twice", [lines[number]] * 2)):
            file = tmp_path / f"{kind}-{number}.toml"
            file.write_text("\n".join([*lines[:number], *middle, *lines[number + 1 :]]) + "\n")
            files.append(file)
    assert list(differences(files)) == []
    assert any(readers_verdict(file).startswith(REFUSED) for file in files)


def test_state_order_is_that_of_the_file(tmp_path: Path) -> None:
    """Also when all states stand in one line."""
    file = tmp_path / "line.toml"
    text = find_protocol("msi").read_text()
    head, _, rest = text.partition("[states.M]")
    rows = rest[rest.index("[own.load]") :]
    states = 'S = { description = "s", counts_as = "S", readable = true }, I = { description = "i" }, ' \
        'M = { description = "m", counts_as = "M", readable = true, writable = true }'  # fmt: skip
    file.write_text(f"{head}states = {{ {states} }}\n{rows}")
    assert loaders_verdicts([file]) == [readers_verdict(file)] == ["S I M"]


def test_nine_states_are_one_too_many(tmp_path: Path) -> None:
    text = find_protocol("msi").read_text()
    for number in range(5, 7):
        more = [f"S{extra}" for extra in range(number)]
        states = "".join(f'[states.{name}]\ndescription = "x"\ncounts_as = "S"\nreadable = true\n' for name in more)
        table = text.replace("[own.load]", states + "[own.load]")
        for row in ("own.load", "own.fetch", "own.store", "own.evict", "remote.read", "remote.rfo", "remote.upgrade"):
            cells = "".join(f'{name} = {{ impossible = "not used" }}\n' for name in more)
            table = table.replace(f"[{row}]\n", f"[{row}]\n{cells}")
        file = tmp_path / f"{number}.toml"
        file.write_text(table)
        assert list(differences([file])) == []
        assert readers_verdict(file).startswith(REFUSED) == (number + 3 > 8)
