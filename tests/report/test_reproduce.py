# SPDX-License-Identifier: GPL-2.0-or-later
"""The paper's figures on one page, and configs/reproduce.toml, which says what each is made from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.simulated_runs import make_result

from s80lab.base.errors import UserError
from s80lab.config.experiment import load_experiment
from s80lab.config.reproduce import FigureOf, load_figures
from s80lab.report.figures.registry import PICTURES
from s80lab.report.reproduce import show_figure, write_page
from s80lab.results import paper


def measured(runs: Path) -> dict[str, list[Path]]:
    return {mix: [runs / f"{mix}-{seed}" for seed in (1, 2, 3)] for mix in ("imapb", "imape")}


@pytest.mark.parametrize("figure", load_figures([]), ids=lambda figure: figure.name)
def test_figure_refers_to_existing_experiments_and_claims(figure: FigureOf) -> None:
    swept = [bool(load_experiment(name, {}).sweep) for name in figure.experiments]
    if figure.coherence:
        return
    assert len(set(swept)) == 1, "sweeps have figures of their own"
    assert bool(figure.pictures or figure.profile or figure.study) or swept[0]
    assert not figure.claims or not swept[0], "a sweep has ratios; claims are judged on runs of one design"
    assert set(figure.pictures) <= PICTURES.keys()
    for ratio in figure.ratios:
        name = figure.experiments[0]
        assert {ratio.over, ratio.at} <= set(map(str, load_experiment(name, {}).sweep[ratio.axis]))
    assert set(figure.claims) <= {claim.id for claim in paper.claims()}


def test_figures_share_a_page(runs: Path, tmp_path: Path) -> None:
    figures = load_figures(["figure9", "figure8"])
    assert [figure.name for figure in figures] == ["figure8", "figure9"]
    page = write_page([show_figure(figure, measured(runs)) for figure in figures], tmp_path / "report")
    text = page.read_text(encoding="utf-8")
    assert text.index("<h2") < text.index("75 to 85%") < text.rindex("Figure 9: E share")
    assert "C15 Misses serviced by memory" in text and "C01 " not in text
    assert text.count("<summary>Inputs of imapb") == 1, "figures of the same runs have the same origin"
    assert {file.name for file in (page.parent / "figures").iterdir()} == {"figure8.svg", "figure9.svg"}
    assert str(tmp_path) not in text


def test_page_with_unequal_seed_counts_notes_rows_without_interval(runs: Path, tmp_path: Path) -> None:
    one = {mix: folders[:1] for mix, folders in measured(runs).items()}
    figures = load_figures(["figure8", "figure9"])

    def page(*of: dict[str, list[Path]]) -> str:
        shown = [show_figure(figure, folders) for figure, folders in zip(figures, of, strict=True)]
        return write_page(shown, tmp_path / "report").read_text(encoding="utf-8")

    said = "Rows with one seed have no interval."
    assert said in page(one, measured(runs)) and said in page(measured(runs), one)
    assert said not in page(measured(runs), measured(runs))
    assert said not in page(one, one) and "there are no intervals" in page(one, one)


def test_guest_note_names_a_load_once(runs: Path, tmp_path: Path) -> None:
    (figure,) = load_figures(["figure8"])
    for number, folder in enumerate((runs / "imapb-2", runs / "imapb-3"), 2):
        path = folder / "manifest.json"
        manifest = json.loads(path.read_text())
        path.write_text(json.dumps(manifest | {"varied": {"clients": str(number)}, "image": "debian"}))
    for folder in runs.glob("imape-*"):
        path = folder / "manifest.json"
        manifest = json.loads(path.read_text())
        path.write_text(json.dumps(manifest | {"versions": manifest["versions"] | {"libc6": "another"}}))
    text = write_page([show_figure(figure, measured(runs))], tmp_path / "report").read_text(encoding="utf-8")
    assert text.count("Guest of imapb on dovecot:") == 1


def test_paper_and_studies_include_all_figures() -> None:
    own, others = load_figures(["paper"]), load_figures(["studies"])
    assert not any(figure.study for figure in own) and all(figure.study for figure in others)
    assert sorted(one.name for one in own + others) == sorted(one.name for one in load_figures([]))
    assert load_figures(["studies", "zvm"]) == others
    parts = load_figures(["throughput"])
    assert len(parts) > 1 and all(figure.study.startswith("throughput/") for figure in parts)


def test_unknown_figure_is_refused() -> None:
    with pytest.raises(
        UserError, match=r"there is no figure `figure11` in configs/reproduce.toml: did you mean figure1"
    ):
        load_figures(["figure11"])


def test_coherence_table_has_one_row_per_workload_and_server(runs: Path) -> None:
    at = {"varied": {"server": "uw", "clients": "40"}}
    for number in (1, 2, 3):
        path = runs / f"imapb-{number}" / "manifest.json"
        changed = {"server": "uw", "workload": "pop3"} | at
        path.write_text(json.dumps(json.loads(path.read_text()) | changed))
    make_result(runs / "imapb-1")
    (figure,) = load_figures(["coherence"])
    found = {name: list[Path]() for name in figure.experiments} | measured(runs)
    shown = show_figure(figure, found)
    (table,) = shown.tables
    rows = {row.label: row for row in table.rows}
    assert set(rows) == {"pop3 on uw", "imape on dovecot"}
    memory = [float(row.cells[0].text.split()[0].rstrip("%")) for row in table.rows]
    assert memory == sorted(memory, reverse=True)
    assert sorted(row.cells[-2].text for row in table.rows) == ["1", "2"]
    assert (rows["imape on dovecot"].cells[-1].text, rows["pop3 on uw"].cells[-1].text) == ("3", "1 of 3")
    stated = "75 to 85% (C15); Silent E-to-M upgrades per E fill, rank among the five workloads: IMAP lowest (C20)"
    assert stated in rows["imape on dovecot"].detail
    assert "The paper on specmail: Misses serviced by other caches in M, O or E: 85% (C16)" in rows["pop3 on uw"].detail
    assert rows["pop3 on uw"].detail.startswith("At clients 40. The paper")
    with pytest.raises(UserError, match="the experiments behind this figure have no runs"):
        show_figure(figure, {name: [] for name in figure.experiments})
