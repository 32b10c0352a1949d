# SPDX-License-Identifier: GPL-2.0-or-later
"""A trace keeps its machine, settings and protocol on every route from one format to another."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.trace.routes import counts, random_trace, route, run
from tests.trace.routes import step as out_and_in

from s80lab.base.errors import UserError
from s80lab.protocol.table import find_protocol
from s80lab.trace import source, step
from s80lab.trace.source import FORMS, Wanted

TWO_LINES = "# Two lines\n# machine: classroom\n# protocol: mesi\n" + "0 store 0x100\n1 store 0x140\n" * 10


@pytest.mark.parametrize("seed", range(40))
def test_random_trace_keeps_all_counts_or_is_refused(seed: int, tmp_path: Path) -> None:
    trace = tmp_path / "random.trace"
    trace.write_text(random_trace(seed))
    for number, first in enumerate(FORMS):
        route(trace, first, FORMS[(number + seed) % len(FORMS)], tmp_path)


@pytest.fixture
def two_lines(tmp_path: Path) -> Path:
    trace = tmp_path / "two-lines.trace"
    trace.write_text(TWO_LINES)
    return trace


def totals(trace: Path, *options: str) -> tuple[int, int]:
    """Misses and invalidations of `trace step`."""
    played = step.lesson(source.load_from_start(trace, Wanted(protocol=options[0] if options else None)), "x")
    misses = sum(one.from_memory or one.supplier is not None for one in played.steps)
    gone = [place for one in played.steps for place, spot in one.changes.items() if spot is None]
    return misses, len(gone)


def test_two_lines_stay_two_lines_after_import_and_export(two_lines: Path, tmp_path: Path) -> None:
    capture, again = tmp_path / "t.s80c", tmp_path / "u.trace"
    code, said = run("import", str(two_lines), "--format", "text", "--out", str(capture))
    assert (code, "machine classroom, protocol mesi\n" in said) == (0, True)
    code, said = run("export", str(capture), "--format", "text", "--out", str(again))
    assert (code, "machine classroom, protocol mesi\n" in said) == (0, True)
    assert again.read_text().startswith("# machine: classroom\n# protocol: mesi\n0 store 0x100\n")
    assert [totals(trace) for trace in (two_lines, capture, again)] == [(2, 0)] * 3


def test_info_uses_the_line_size_of_the_header(two_lines: Path) -> None:
    assert "to 2 lines\nlines of 64 bytes (machine classroom, protocol mesi)\n" in run("info", str(two_lines))[1]
    assert "to 1 line\nlines of 128 bytes (--line-bytes)\n" in run("info", str(two_lines), "--line-bytes", "128")[1]


def test_capture_keeps_settings_of_the_header_and_of_the_import(tmp_path: Path) -> None:
    trace, capture = tmp_path / "x.trace", tmp_path / "x.s80c"
    trace.write_text("# machine: classroom\n# set: l2.ways=1\n0 load 0x100\n")
    assert run("import", str(trace), "--format", "text", "--out", str(capture), "--set", "l2.size=4KiB")[0] == 0
    same = source.load(capture, Wanted()).setup
    assert same.sentence() == "machine classroom with l2.size=4KiB l2.ways=1, protocol moesi"
    other = source.load(capture, Wanted(machine="pe4600", protocol="msi")).setup
    assert (other.machine.l2.size, other.machine.l2.ways, other.machine.name) == (4096, 1, "pe4600")
    assert other.machine.protocol == "msi"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ([], "machine s80 (default), protocol moesi (the machine's default)"),
        (["--machine", "classroom"], "machine classroom, protocol moesi (the machine's default)"),
        (["--protocol", "msi"], "machine s80 (default), protocol msi"),
        (["--set", "protocol=msi"], "machine s80 (default), protocol msi"),
        (["--set", "l2.ways=1"], "machine s80 (default) with l2.ways=1, protocol moesi (the machine's default)"),
    ],
)
def test_import_names_what_it_uses_and_marks_defaults(tmp_path: Path, options: list[str], sentence: str) -> None:
    (tmp_path / "x.din").write_text("0 100\n")
    code, said = run("import", str(tmp_path / "x.din"), "--format", "din", "--out", str(tmp_path / "x.s80c"), *options)
    assert (code, sentence in said.splitlines()) == (0, True), said


def test_option_overrides_setting_of_the_header_that_names_a_protocol(tmp_path: Path) -> None:
    trace = tmp_path / "x.trace"
    trace.write_text("# machine: classroom\n# set: protocol=msi\n0 load 0x100\n")
    assert source.load(trace, Wanted()).setup.machine.protocol == "msi"
    assert source.load(trace, Wanted(protocol="mesi")).setup.machine.protocol == "mesi"
    assert source.load(trace, Wanted(settings=("protocol=moesi",))).setup.machine.protocol == "moesi"


def test_capture_holds_its_own_table(tmp_path: Path) -> None:
    """A table of the same name as a shipped one is not replaced by it, and the file may be gone."""
    table, trace, capture = tmp_path / "mesi.toml", tmp_path / "x.trace", tmp_path / "x.s80c"
    shipped = find_protocol("msi")
    table.write_text(shipped.read_text().replace('name = "msi"', 'name = "mesi"'))
    trace.write_text("# machine: classroom\n# protocol: mesi.toml\n0 load 0x100\n0 store 0x100\n")
    expected = counts(trace)
    assert run("import", str(trace), "--format", "text", "--out", str(capture))[0] == 0
    table.unlink()
    assert counts(capture) == expected
    for form in ("text", "din", "order"):
        folder = tmp_path / f"as-{form}"
        folder.mkdir()
        again, lacks = out_and_in(capture, form, folder)
        assert again is not None, lacks
        assert counts(again) == expected


def test_relative_path_in_a_header_is_relative_to_the_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "handout"
    folder.mkdir()
    shipped = find_protocol("msi")
    (folder / "course.toml").write_text(shipped.read_text().replace('name = "msi"', 'name = "course"'))
    (folder / "x.trace").write_text("# machine: classroom\n# protocol: course.toml\n0 load 0x100\n")
    monkeypatch.chdir(tmp_path)
    assert source.load(Path("handout/x.trace"), Wanted()).setup.protocol == Path("handout/course.toml")
    (folder / "course.toml").unlink()
    with pytest.raises(UserError, match=r"^handout/x\.trace, line 2: there is no protocol file handout/course"):
        source.load(Path("handout/x.trace"), Wanted())


def test_export_without_the_order_between_processors_says_so(two_lines: Path, tmp_path: Path) -> None:
    mixed = tmp_path / "mixed.trace"
    mixed.write_text("# machine: classroom\n1 store 0x100\n1 load 0x100\n0 store 0x100\n")
    said = run("export", str(mixed), "--format", "din", "--out", str(tmp_path / "din"))[1]
    assert "is another trace: the format din does not hold the order between processors" in said
    assert "import it again" not in said
    said = run("export", str(mixed), "--format", "gem5", "--out", str(tmp_path / "gem5"))[1]
    assert "import it again: s80lab trace import" in said
    said = run("export", str(two_lines), "--format", "din", "--out", str(tmp_path / "two"))[1]
    assert "--format din --machine classroom --protocol mesi --out NAME.s80c" in said
