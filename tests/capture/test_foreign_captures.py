# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures of other people: a header that is wrong is refused with one sentence, and nothing is written outside the
lab. The tables of a replay of an imported trace have only what has a value."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.capture.conftest import small_machine
from tests.lab import Lab

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.files import MOST_BYTES, is_name
from s80lab.capture.design import resolve_design
from s80lab.capture.store import open_capture
from s80lab.config.machine import load_machine
from s80lab.trace import order, tool
from s80lab.trace.order import Op


def written(folder: Path, origin: str, name: str = "x.s80c", lines: tuple[int, ...] = (1, 2, 1)) -> Path:
    """A capture with this origin."""
    path = folder / name
    accesses = order.make(0, Op.LOAD, list(lines))
    tool.to_capture(accesses, small_machine(), path, lines=8, protocol="moesi", origin=origin)
    return path


@pytest.mark.parametrize(
    ("origin", "sentence"),
    [
        ("no JSON", "is not a JSON object"),
        ("[1, 2]", "is not a JSON object"),
        ("17", "is not a JSON object"),
        ('"text"', "is not a JSON object"),
        ("null", "is not a JSON object"),
        ("[" * 100_000, "is not a JSON object"),
        ('{"think_ms": NaN}', "is not a JSON object"),
        ('{"seed": ' + "9" * 5000 + "}", "is not a JSON object"),
        ('{"seed": 1180591620717411303424}', "key `seed`"),
        ('{"seed": "1"}', "key `seed`"),
        ('{"seed": null}', "key `seed`"),
        ('{"versions": [1]}', "key `versions`"),
        ('{"versions": {"qemu": [1]}}', "key `versions.qemu`"),
        ('{"think_ms": 1e999}', "key `think_ms`"),
        ('{"clients": -1}', "key `clients`"),
        ('{"experiment": ["imapb"]}', "key `experiment`"),
        ('{"capture": "/../../../../evil/x"}', "cannot name a file or folder"),
        ('{"capture": "a/b"}', "the name `a/b` cannot name"),
        ('{"capture": ".."}', "the name `..` cannot name"),
        ('{"capture": "-rf"}', "the name `-rf` cannot name"),
        ('{"capture": "a\\nb"}', r"the name `a\nb` cannot name"),
        ('{"capture": "\\u001b[31m"}', r"the name `\x1b[31m` cannot name"),
        ('{"capture": "nul\\u0000"}', "key `capture`: the text contains NUL"),
        ('{"capture": ""}', "the name `` cannot name"),
        ('{"capture": 17}', "key `capture`"),
    ],
)
def test_open_capture_wrong_origin_is_refused_with_one_sentence(tmp_path: Path, origin: str, sentence: str) -> None:
    path = written(tmp_path, origin)
    with pytest.raises(UserError) as caught:
        open_capture(str(path))
    assert sentence in str(caught.value) and str(path) in str(caught.value)
    assert str(caught.value).isprintable() and len(str(caught.value)) < 600


def test_open_capture_origin_without_keys_takes_the_name_of_the_file(tmp_path: Path) -> None:
    assert open_capture(str(written(tmp_path, "", "my trace.s80c"))).name == "my trace"
    with pytest.raises(UserError, match=r"the name `a\*` cannot name .*; rename the file"):
        open_capture(str(written(tmp_path, "{}", "a*.s80c")))


def test_resolve_design_path_as_protocol_in_header_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "moesi.toml"
    table.write_text((paths.PROTOCOLS / "moesi.toml").read_text())
    machine = load_machine("s80", {"protocol": str(table)})
    path = tmp_path / "x.s80c"
    tool.to_capture(order.make(0, Op.LOAD, [1]), machine, path, lines=8, protocol="moesi", origin="{}")
    capture = open_capture(str(path))
    with pytest.raises(UserError, match=r"protocol of the machine in the header .* cannot name .*--protocol"):
        resolve_design(capture)
    assert resolve_design(capture, protocol="mesi").protocol_name == "mesi"
    assert resolve_design(capture, protocol=str(table)).protocol_name == "moesi"


def test_replay_and_explore_hostile_name_write_nothing(place: Lab, tmp_path: Path) -> None:
    path = written(tmp_path, '{"capture": "/../../../../evil/x"}')
    for words in (["replay", str(path)], ["explore", str(path), "--vary", "protocol=msi,moesi"]):
        said = place.call(*words, code=2)
        assert "cannot name a file or folder" in said and said.count("\n") == 1
    assert not place.results.exists() and not (tmp_path / "evil").exists()


@pytest.mark.parametrize("name", ["imapb-tiny-s1", "a.b", "Zürich", "my trace", "l2.size=4MiB,protocol=msi", "_x"])
def test_is_name_plain_name_is_accepted(name: str) -> None:
    assert is_name(name)


@pytest.mark.parametrize(
    "name",
    [
        *("", ".", "..", ".hidden", "-rf", "a/b", "/a", "a\\b", "a\nb", "a\0", "*", "a?", "$(id)", "a;b", " a", "a "),
        *("\x1b[2J", "\u202etxt", "a" * (MOST_BYTES + 1), "\udcff"),
    ],
)
def test_is_name_path_pattern_option_or_control_character_is_rejected(name: str) -> None:
    assert not is_name(name)


DIN = "0 1000\n1 1000\n0 2000\n1 2000\n0 3000\n"


def test_replay_of_an_imported_trace_prints_only_what_has_a_value(place: Lab, tmp_path: Path) -> None:
    trace, capture = tmp_path / "mine.din", tmp_path / "mine.s80c"
    trace.write_text(DIN)
    place.call("trace", "import", str(trace), "--format", "din", "--out", str(capture))
    lines = place.answer("replay", str(capture)).splitlines()
    assert lines[0] == "machine s80, protocol moesi"
    assert lines[1].startswith("mine: invalid.")
    assert lines[lines.index("Headline") + 1].split() == ["mine"]
    assert not [line for line in lines if re.search(r"\s-$", line)]
    assert not [line for line in lines if line.startswith(("C01 ", "Comparison with the paper", "Mail transport"))]


def test_report_page_of_an_imported_trace_has_no_claims(place: Lab, tmp_path: Path) -> None:
    trace, capture = tmp_path / "mine.din", tmp_path / "mine.s80c"
    trace.write_text(DIN)
    place.call("trace", "import", str(trace), "--format", "din", "--out", str(capture))
    place.call("replay", str(capture))
    (run,) = place.runs()
    page = (run / "report.html").read_text(encoding="utf-8")
    assert '<h2 id="headline">' in page and ">mine</th>" in page
    assert "Comparison with the paper" not in page and "<td>-</td>" not in page
