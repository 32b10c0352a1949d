# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab protocol` as a user meets it, and what a run makes of a table that is not proven."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from tests.forked import command
from tests.lab import Lab
from tests.protocol.tables import NAMES, edited

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.commands.init import make_lab
from s80lab.protocol.murphi_check import parse, run
from s80lab.protocol.proof import ensure_proven, folder, kept_proof, prove
from s80lab.protocol.table import find_protocol

pytestmark = pytest.mark.usefixtures("proofs")

BROKEN = ("moesi", "own.evict.O", '{ next = "I" }')


@pytest.fixture
def bare(tmp_path: Path) -> Lab:
    """A laboratory in which nothing has been built or measured."""
    return Lab(tmp_path / "checkpoints", tmp_path / "results")


def test_check_all_proves_every_table(bare: Lab) -> None:
    said = bare.call("protocol", "check", "--all")
    for name in NAMES:
        assert f"\n{name}: proven for 3 caches (" in f"\n{said}"
    assert "In every reachable state: single writer or multiple readers (SWMR); at most one owner;" in said
    listing = bare.call("protocol", "list").splitlines()
    assert [line.split()[0] for line in listing if " proven " in line] == NAMES


def test_list_shows_the_largest_number_of_caches_that_is_proven(
    bare: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("S80LAB_PROOFS", str(tmp_path / "proofs"))
    assert "proven for 4 caches" in bare.call("protocol", "check", "msi", "--caches", "4")
    (line,) = [line for line in bare.call("protocol", "list").splitlines() if line.startswith("msi ")]
    assert line.split() == ["msi", "M", "S", "I", "any", "proven", "for", "4", "caches"]
    assert "proven for 4 caches" in bare.call("protocol", "show", "msi")


def test_check_says_that_a_proof_was_stored(bare: Lab) -> None:
    bare.call("protocol", "check", "msi")
    assert re.search(r"^msi: .*; stored proof of \d{4}-\d\d-\d\d\)$", bare.call("protocol", "check", "msi"), re.M)
    assert "stored proof" not in bare.call("protocol", "check", "msi", "--again")


def test_show_explains_the_bus_requests(bare: Lab) -> None:
    said = " ".join(bare.call("protocol", "show", "moesi").split())
    assert "rfo (read for ownership): bus request of a store that misses." in said
    assert "upgrade: bus request of a store that finds a copy" in said


def test_broken_protocol_is_refused_with_counterexample_steps(bare: Lab, tmp_path: Path) -> None:
    said = bare.call("protocol", "check", str(edited(tmp_path, *BROKEN)), code=1)
    assert "violates the invariant: memory or an owner holds the last write" in said
    steps = [line.split()[0] for line in said.splitlines() if line[:1].isdigit()]
    assert steps == ["0", "1", "2", "3"]
    assert "Violation: the last value stored is 1, but memory holds 0 and no owner holds 1." in said


def test_check_writes_counterexample_that_trace_step_plays(bare: Lab, tmp_path: Path) -> None:
    table, trace, page = edited(tmp_path, *BROKEN), tmp_path / "broken.trace", tmp_path / "broken.html"
    said = bare.call("protocol", "check", str(table), "--trace", str(trace), "--html", str(page), code=1)
    assert said.endswith(f"trace: {trace}\npage: {page}\n")
    steps = json.loads(bare.call("trace", "step", str(trace), "--json"))["steps"]
    assert [bool(step["violations"]) for step in steps] == [False, False, True]
    assert '<p class="violation">' in page.read_text()
    listed = bare.call("trace", "step", str(trace))
    assert "protocol moesi is refused: it violates the invariant `memory or an owner holds the last write`" in listed


def test_check_of_proven_table_writes_no_counterexample(bare: Lab, tmp_path: Path) -> None:
    said = bare.call("protocol", "check", "msi", "--trace", str(tmp_path / "none.trace"))
    assert said.endswith("configs/protocols/msi.toml is proven, so there is no counterexample to write\n")
    assert not (tmp_path / "none.trace").exists()


def test_check_of_several_tables_refuses_one_file_for_all(bare: Lab, tmp_path: Path) -> None:
    said = bare.call("protocol", "check", "msi", "mesi", "--html", str(tmp_path / "none.html"), code=2)
    assert said == (
        "s80lab: --trace and --html write one counterexample, but 2 protocols are named; name one protocol\n"
    )


def test_file_that_is_not_a_protocol_gives_one_sentence(bare: Lab, tmp_path: Path) -> None:
    (tmp_path / "no.toml").write_text('name = "no"\n')
    said = bare.call("protocol", "check", str(tmp_path / "no.toml"), "msi", code=2)
    assert "msi: proven" in said
    assert [line for line in said.splitlines() if line.startswith("s80lab: ")] == [
        f"s80lab: {tmp_path / 'no.toml'}: the key `description` is missing"
    ]


def test_protocol_check_without_names_is_refused(bare: Lab) -> None:
    assert (
        bare.call("protocol", "check", code=2)
        == "s80lab: no protocol is named: write its name or .toml file after `protocol check`, or add --all\n"
    )


def test_show_names_cells_and_reasons(bare: Lab, tmp_path: Path) -> None:
    said = bare.call("protocol", "show", "msi", "--svg", str(tmp_path / "msi.svg"))
    rows = [line.split() for line in said.splitlines()]
    assert ["S", "S", "S", "upgrade", "→", "I", "S", "I", "I"] in rows
    assert "—² impossible: an absent block cannot be evicted" in said
    assert (tmp_path / "msi.svg").read_text().rstrip().endswith("</svg>")


def test_new_writes_a_table_that_is_proven_and_refuses_to_overwrite(bare: Lab, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    bare.call("protocol", "new", str(path))
    assert "proven for 3 caches" in bare.call("protocol", "check", str(path))
    written = path.read_text()
    assert 'name = "mine"' in written
    assert "@" not in written
    assert bare.call("protocol", "new", str(path), code=2) == (
        f"s80lab: {path} exists already: choose another name, or remove the file first\n"
    )
    assert path.read_text() == written


def test_new_creates_the_folder_of_the_file(bare: Lab, tmp_path: Path) -> None:
    path = tmp_path / "course" / "week2" / "mine.toml"
    assert bare.answer("protocol", "new", str(path)).startswith(f"{path}: MSI with comments;")
    assert path.is_file()


def test_new_in_another_folder_prints_the_full_path(tmp_path: Path) -> None:
    make_lab(tmp_path / "lab")
    environment = os.environ | {"S80LAB_HOME": str(tmp_path / "lab")}
    for here, shown in (
        (tmp_path, str(tmp_path / "lab/configs/protocols/a.toml")),
        (tmp_path / "lab", "configs/protocols/b.toml"),
    ):
        words = command(("protocol", "new", Path(shown).stem))
        done = subprocess.run(words, cwd=here, env=environment, capture_output=True, text=True)
        assert done.stdout.startswith(f"{shown}: MSI with comments;"), done.stderr


def test_new_refuses_what_is_no_name(bare: Lab) -> None:
    said = bare.call("protocol", "new", "my protocol", code=2)
    assert said.startswith("s80lab: `my protocol`: the name of a protocol may contain only letters, digits, - and _; ")


@pytest.mark.parametrize("name", ["../x", "x/y", "/tmp/x", "x\n", ".x", "x*"])
def test_new_refuses_names_that_check_would_not_find(bare: Lab, name: str) -> None:
    before = set(paths.own(paths.PROTOCOLS).parent.rglob("*.toml"))
    assert "may contain only letters, digits, - and _" in bare.call("protocol", "new", name, code=2)
    assert set(paths.own(paths.PROTOCOLS).parent.rglob("*.toml")) == before


def test_run_with_broken_protocol_is_refused(lab: Lab, tmp_path: Path) -> None:
    said = lab.run_tiny("imapb", "--protocol", str(edited(tmp_path, *BROKEN)), code=2)
    assert "the protocol violates the invariant `memory or an owner holds the last write`" in said
    assert "s80lab protocol check" in said


def test_proof_is_kept_and_repeated_on_request(tmp_path: Path) -> None:
    path = tmp_path / "kept.toml"
    path.write_text(find_protocol("msi").read_text().replace('name = "msi"', 'name = "kept"'))
    stages: list[str] = []
    first = prove(path, stage=stages.append).proof
    assert first is not None
    assert stages == ["generating", "compiling", "exploring"]
    assert kept_proof(first.model) == first
    assert (folder() / f"{first.model}.m").is_file()

    assert prove(path, stage=stages.append).proof == first
    assert len(stages) == 3
    prove(path, again=True, stage=stages.append)
    assert len(stages) == 6


def test_damaged_proof_is_repeated(tmp_path: Path) -> None:
    path = tmp_path / "damaged.toml"
    path.write_text(find_protocol("msi").read_text().replace('name = "msi"', 'name = "damaged"'))
    proof = ensure_proven(path)
    file = folder() / f"{proof.model}.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"states": "many"}))
    assert ensure_proven(path).states == proof.states


def test_absent_rumur_is_refused_with_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("S80LAB_PROOFS", str(tmp_path / "none"))
    monkeypatch.setenv("PATH", os.devnull)
    with pytest.raises(UserError) as refusal:
        ensure_proven(find_protocol("msi"))
    assert str(refusal.value) == (
        "rumur, which proves protocols, is not on PATH: install the Debian package rumur (`make setup` does)"
    )


def test_checker_that_cannot_be_started_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        UserError,
        match=r"cannot be started .*; set TMPDIR to a folder on a file system that allows the execution of programs",
    ):
        run([str(tmp_path / "model")], tmp_path)


def test_checker_output_without_summary_is_refused() -> None:
    with pytest.raises(UserError, match="is not XML"):
        parse("<?xml version='1.0'?><rumur_run><information/>")
    with pytest.raises(UserError, match="ended without a summary"):
        parse("<rumur_run><information/></rumur_run>")
