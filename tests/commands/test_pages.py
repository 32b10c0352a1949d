# SPDX-License-Identifier: GPL-2.0-or-later
"""`make pages` and `s80lab reference show`: the pages have the values that the documents state, and the generated pages
in git are those that the present code makes."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.strict import short_path
from s80lab.capture.error import TABLE
from s80lab.commands import pages
from s80lab.commands.line.maintain import ReferenceShowArguments
from s80lab.commands.pages import FRONT, ordered_runs, write_pages, write_uw_page
from s80lab.commands.reference import show_command
from s80lab.report.filter_error import write_markdown as write_filter_error
from s80lab.report.gem5_comparison import write_markdown as write_comparison
from s80lab.report.write import write_experiment_report
from s80lab.results.reference import unpacked

AGAIN = "run `make pages`"
MIXES = re.compile(r"([\d.]+ ± [\d.]+)% \(imapb\) and ([\d.]+ ± [\d.]+)% \(imape\)")
CELL = re.compile(r'<span class="number">([^<]*)</span>')


def rows(page: Path) -> list[list[str]]:
    """The numbers of each row of each table of a page."""
    return [CELL.findall(row) for row in page.read_text(encoding="utf-8").split("</tr>")]


def whole_numbers(cell: str) -> str:
    """The text with its numbers rounded."""
    return re.sub(r"\d+\.\d+(?!\.)", lambda number: f"{float(number[0]):.0f}", cell)


def test_report_of_small_has_the_values_of_the_readme_and_its_figure(tmp_path: Path) -> None:
    page = write_experiment_report("small", ordered_runs("small"), tmp_path)
    text = (paths.ROOT / "README.md").read_text(encoding="utf-8")
    stated = re.findall(r"^\| [^|]+ \| ([\d.]+ ± [\d.]+%?) \| ([\d.]+ ± [\d.]+%?) \|$", text, re.MULTILINE)
    assert len(stated) == 6
    found = {tuple(row[:2]) for row in rows(page)}
    *shares, throughput = stated
    assert [row for row in shares if row not in found] == []
    assert throughput in {tuple(map(whole_numbers, row)) for row in found}
    assert FRONT.read_bytes() == (tmp_path / "figures" / FRONT.name).read_bytes(), AGAIN


def test_page_of_uw_has_the_values_of_the_guide(tmp_path: Path) -> None:
    guide = (paths.ROOT / "docs" / "guides" / "reproduce.md").read_text(encoding="utf-8")
    (line,) = (line for line in guide.splitlines() if "reproduce uw" in line)
    (stated,) = MIXES.findall(line)
    page = write_uw_page(tmp_path)
    for value in stated:
        assert any(f"{value}%" in row for row in rows(page)), value
    assert "unix_mbxline" in page.read_text(encoding="utf-8")


def test_filter_error_table_equals_regenerated_table(tmp_path: Path) -> None:
    copied = Path(shutil.copy(TABLE, tmp_path))
    write_filter_error(copied)
    assert copied.with_suffix(".md").read_bytes() == TABLE.with_suffix(".md").read_bytes(), AGAIN


@pytest.mark.parametrize("page", sorted((paths.REFERENCE / "gem5").glob("im*.md")), ids=lambda page: page.stem)
def test_gem5_comparison_equals_regenerated_comparison(page: Path, tmp_path: Path) -> None:
    shutil.copy(unpacked("gem5") / page.stem / "compare.json", tmp_path)
    assert write_comparison(tmp_path).read_bytes() == page.read_bytes(), AGAIN


def test_ordered_runs_follow_points_of_sweep_then_seeds() -> None:
    servers = ("dovecot-index", "dovecot-maildir", "dovecot-maildir-index", "courier")
    manifests = [(folder / "manifest.json").read_text() for folder in ordered_runs("servers")]
    order = [next(name for name in servers if f'"server": "{name}"' in text) for text in manifests]
    assert order == [name for name in servers for _ in range(3)]
    assert [folder.name.split("-")[2] for folder in ordered_runs("servers")] == ["s1", "s2", "s3"] * len(servers)


def test_show_writes_the_pages_beside_the_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(paths, "BUILD", tmp_path)
    show_command(ReferenceShowArguments(["small", "paper/zvm"]))
    small = tmp_path / "reference" / "small"
    assert len(list(small.glob("runs/*/stats.json"))) == 12
    assert (small / "report.html").is_file() and (small / "figures" / "e_state.svg").is_file()
    zvm = tmp_path / "reference" / "paper" / "zvm" / "report.html"
    assert capsys.readouterr().out.splitlines() == [
        f"page: {short_path(page)}" for page in (small / "report.html", zvm)
    ]
    with pytest.raises(
        UserError, match=r"the reference result `paper` has no page `paper/zwm`: did you mean paper/zvm\?"
    ):
        show_command(ReferenceShowArguments(["paper/zwm"]))
    with pytest.raises(UserError, match=r"results/reference has no result `smal`: did you mean small\?"):
        show_command(ReferenceShowArguments(["smal"]))


def test_show_without_writable_lab_names_the_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(paths, "BUILD", tmp_path / "file" / "build")
    with pytest.raises(UserError, match="cannot be written; set S80LAB_HOME to a folder of your own"):
        list(write_pages(pages.PAPER))
