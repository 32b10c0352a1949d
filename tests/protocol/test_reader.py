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
from s80lab.protocol.table import GIVERS, REQUESTS, EndCell, HomeRows, Protocol, find_protocol, load_protocol

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


# The same for mesi-llc and its home.
HOME_EDITS = [
    ("", "", None),
    ("[home.read]", "[home.reads]", r"unknown key `home.reads`"),
    ("[home.put.exclusive]", "[home.put.stranger]", r"unknown key `home.put.stranger`"),
    ("[home.put.exclusive]", '["home"."put.exclusive"]', "unknown key"),
    ("[home.states.NP]", '[home.states."N P"]', "a letter followed by letters"),
    ("[home.states.NP]\n", "[home.states.NP]\nshared = true\n", "unknown key"),
    ('copies = "none"\n', "", "copies"),
    ('copies = "none"\n', 'copies = "two"\n', "copies"),
    ('copies = "none"\n', 'copies = "any"\n', r"\[home.states\].*neither data nor copies; found: none"),
    ('copies = "none"\n', 'copies = "none"\ndirty = true\n', "dirty, so it needs data"),
    ('data = true\ncopies = "none"\n', 'copies = "none"\n', r"\[home.states\].*neither data nor copies; found: NP, P"),
    ('NP = { next = "MT" }\n', "", "the cell home.read.NP is missing"),
    ('NP = { next = "MT" }', 'Q = { next = "MT" }', "home.read.NP is missing"),
    ('NP = { next = "MT" }', 'NP = { next = "Q" }', "home.read.NP.next names the unknown home state `Q`"),
    ('NP = { next = "MT" }', "NP = { }", "needs either `next`, or"),
    ('NP = { next = "MT" }', 'NP = { alone = "MT" }', "needs either `next`, or"),
    ('NP = { next = "MT" }', 'NP = { alone = "MT", shared = "SS" }', None),
    ('NP = { next = "MT" }', 'NP = { next = "MT", shared = "SS" }', "needs either `next`, or"),
    ('NP = { next = "MT" }', 'NP = { clean = "MT", shared = "SS" }', "needs either `next`, or"),
    ('NP = { next = "MT" }', 'NP = { alone = "MT", clean = "SS", dirty = "SSD" }', None),
    ('NP = { next = "MT" }', 'NP = { shared = "MT", clean = "SS", dirty = "SSD" }', None),
    ('NP = { next = "MT" }', 'NP = { alone = "MT", shared = "SS", clean = "SS", dirty = "SSD" }', "needs either"),
    ('NP = { next = "MT" }', 'NP = { next = "MT", supply = true }', "cannot supply or write back in a state w"),
    ('NP = { next = "MT" }', 'NP = { next = "MT", writeback = true }', "cannot supply or write back in a state w"),
    ('NP = { next = "MT" }', 'NP = { next = "P" }', "home.read.NP ends in P with copies = none, but the requester"),
    ('NP = { next = "MT" }', 'NP = { impossible = "never" }', None),
    ('NP = { next = "MT" }', 'NP = { next = "MT", impossible = "never" }', "must not have other keys"),
    ('P = { next = "MT", supply = true }', 'P = { next = "MT", first = true }', "`first` needs supply = true"),
    ('P = { next = "MT", supply = true }', 'P = { next = "MT", supply = true, first = true }', None),
    ('P = { next = "MT", supply = true }', 'P = { next = "MT", gives = "S" }', "`gives` needs supply = true"),
    ('P = { next = "MT", supply = true }', 'P = { next = "MT", supply = true, gives = "S" }', None),
    ('P = { next = "MT", supply = true }', 'P = { next = "MT", supply = true, gives = "I" }', "a readable state"),
    ('P = { next = "MT", supply = true }', 'P = { next = "MT", supply = true, gives = "Q" }', "a readable state"),
    ('P = { next = "MT", supply = true }', 'P = { next = "MT", supply = true, writeback = true }', None),
    ('P = { next = "MT", supply = true }', 'P = { next = "MT", recall = true }', "unknown key"),
    ('grants = "shared"', 'grants = "alone"', "grants"),
    ('grants = "shared"', "grants = true", "grants"),
    ('SS = { next = "MT" }', 'SS = { next = "MT", supply = true }', "unknown key"),
    ('SS = { next = "MT" }', 'SS = { next = "MT", writeback = true }', None),
    ('MT = { clean = "P", dirty = "PD" }', 'MT = { clean = "P", dirty = "PD", writeback = true }', "unknown key"),
    ('MT = { clean = "P", dirty = "PD" }', 'NP = { next = "P" }\nMT = { next = "P" }', "in which the event cannot"),
    ("[home.displace]\n", "[home.displace]\nNP = { next = 'NP' }\n", "a state in which the event cannot happen"),
    ('P = { next = "NP" }', 'P = { next = "PD" }', "ends in PD with data, but the block leaves"),
    ('P = { next = "NP" }', 'P = { next = "NP", supply = true }', "unknown key"),
    ('SS = { next = "NP", recall = true }', 'SS = { next = "NP", recall = 1 }', "recall"),
    ("[home.displace]", "[home.displaced]", "unknown key"),
    ("recall = true", "recall = false", None),
    ("[remote.recall]", "[remote.recalled]", "unknown key"),
    ('[remote.recall]\nM = { next = "I", w', '[remote.recall]\nM = { next = "I", supply = true, w', "unknown key"),
    ('E = { next = "I", put = true }', 'E = { next = "I", put = 1 }', "put"),
    ('E = { next = "I", put = true }', 'E = { next = "I" }', None),
    ('S = { next = "I" }\nI = { impossible = "an', 'S = { next = "I", put = true }\nI = { impossible = "an',
     r"the table \[home.put.sharer\] is missing"),
]  # fmt: skip

# What is cut out of mesi-llc (up to the next table), and the message.
HOME_CUTS = [
    ("home.read", "the key `home.read` is missing"),
    ("home.rfo", "the key `home.rfo` is missing"),
    ("home.upgrade", r"the table \[home.upgrade\] is missing"),
    ("home.put.exclusive", r"the table \[home.put.exclusive\] is missing"),
    ("home.displace", r"the table \[home.displace\] is missing"),
    ("remote.recall", r"the table \[remote.recall\] is missing"),
]

# A table that is added to a shipped one, and the message; None: still a valid table.
ADDED = [
    ("moesi", '[remote.recall]\nM = { next = "I" }\n', r"the cell remote.recall.O is missing"),
    ("msi", '[remote.recall]\nM = { next = "I" }\nS = { next = "I" }\nI = { next = "I" }\n', "no cell of .home. rec"),
    ("msi", "[home]\n", "the key `home.states` is missing"),
    ("mesi-llc", '[home.put.owner]\nSS = { next = "SS" }\n', "an event that cannot happen: no private cache"),
    ("hammer", '[home.upgrade]\nE = { next = "NO" }\n', "an event that cannot happen: no cell of .own. has bus"),
    ("hammer", '[home.displace]\nE = { next = "NO" }\n', "an event that cannot happen: no home state has data"),
    ("mesi-llc", '[home.recall]\nSS = { next = "P" }\nSSD = { next = "PD" }\nMT = { clean = "P", dirty = "PD" }\n'
     'MTD = { next = "PD" }\n', None),
    ("mesi-llc", '[home.recall]\nSS = { next = "SS" }\nSSD = { next = "PD" }\nMT = { clean = "P", dirty = "PD" }\n'
     'MTD = { next = "PD" }\n', "ends in SS, which allows copies, but a recall leaves none"),
]  # fmt: skip


def loaders_verdicts(files: Iterable[Path]) -> list[str]:
    """For each file the states in order and the cells of the home, or `refused ...`, as the C++ loader sees it."""
    done = subprocess.run([CHECK, *files], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def readers_verdict(file: Path) -> str:
    try:
        protocol = load_protocol(file)
        return " ".join([*protocol.states, *(_home_words(protocol, protocol.home) if protocol.home else [])])
    except UserError as error:
        return f"{REFUSED} {error}"


def _home_words(protocol: Protocol, home: HomeRows) -> Iterator[str]:
    """The home in the words of tests/protocol/protocol_check.cpp."""
    for name, state in home.states.items():
        marks = [("data", state.data), ("dirty", state.dirty), ("absent", name == home.absent)]
        yield ":".join([name, state.copies, *(word for word, there in marks if there)])
    rows = dict(home.rows()) | {"home.fetch": home.request_row("fetch")}
    order = [*REQUESTS, *(f"put.{giver}" for giver in GIVERS), "displace", "recall"]
    for row in order:
        cells = rows.get(f"home.{row}", {})
        yield from (
            _cell_word(row, name, cells[name]) for name in home.states if name in cells and cells[name].possible
        )
    for name, evict in protocol.own.evict.items():
        if evict.possible and protocol.puts(name):
            yield f"put.{name}"
        recalled = (protocol.remote.recall or {}).get(name)
        if recalled is not None and recalled.possible:
            yield f"recalled.{name}={recalled.after}" + ("+writeback" if recalled.writeback else "")
    told = [("llc", home.has_llc), ("recalls", home.recall is not None), ("bus", protocol.bus_suffices)]
    yield from (word for word, there in told if there)


def _cell_word(row: str, name: str, cell: EndCell) -> str:
    ends = ",".join(cell.after(keep, written) for keep in (False, True) for written in (False, True))
    flags = [flag for flag in ("supply", "first", "grants", "writeback", "recall") if getattr(cell, flag, False)]
    flags += ["recall"] if row == "recall" else []
    flags += [given] if (given := getattr(cell, "gives", None)) else []
    return "+".join([f"{row}.{name}={ends}", *flags])


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
    _agree(tmp_path, text.replace(what, instead, 1), said)


@pytest.mark.parametrize(("what", "instead", "said"), HOME_EDITS)
def test_reader_and_loader_agree_on_edited_homes(tmp_path: Path, what: str, instead: str, said: str | None) -> None:
    text = find_protocol("mesi-llc").read_text()
    home = text.index("[home.states.NP]")
    at = text.index(what, home if what in text[home:] else 0)
    _agree(tmp_path, text[:at] + instead + text[at + len(what) :], said)


@pytest.mark.parametrize(("row", "said"), HOME_CUTS)
def test_reader_and_loader_refuse_homes_without_a_row(tmp_path: Path, row: str, said: str) -> None:
    before, head, rest = find_protocol("mesi-llc").read_text().partition(f"[{row}]\n")
    assert head
    _agree(tmp_path, before + "[" * ("\n[" in rest) + rest.partition("\n[")[2], said)


@pytest.mark.parametrize(("name", "table", "said"), ADDED)
def test_reader_and_loader_agree_on_added_rows(tmp_path: Path, name: str, table: str, said: str | None) -> None:
    _agree(tmp_path, f"{find_protocol(name).read_text()}\n{table}", said)


def _agree(folder: Path, text: str, said: str | None) -> None:
    file = folder / "edited.toml"
    file.write_text(text)
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
