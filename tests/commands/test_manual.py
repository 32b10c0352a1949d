# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands as Markdown: what --help shows, hidden commands last, its text not taken for marks. `s80lab metrics`:
the list for a terminal, single metrics, and names that do not exist."""

from __future__ import annotations

import json
import os
from typing import Annotated

import pytest
import typer
from tests.forked import call

from s80lab.commands.manual import markdown
from s80lab.results.metrics.derive import REGISTRY


@pytest.fixture
def app() -> typer.Typer:
    app, group = typer.Typer(help="A *tool*."), typer.Typer(help="Of more\nthan one line.")
    app.add_typer(group, name="group")

    @app.command()
    def plain(
        name: Annotated[str, typer.Argument(help="Files like *.toml, <name>_<n> or `a_b`.")],
        size: Annotated[int, typer.Option(help="How large.")] = 3,
        secret: Annotated[int, typer.Option(hidden=True)] = 0,
    ) -> None:
        """Does it."""

    @app.command(hidden=True)
    def hidden() -> None:
        """For few."""

    @group.command()
    def inner() -> None:
        """Lies deeper."""

    return app


def test_markdown_has_one_section_per_command_hidden_ones_last(app: typer.Typer) -> None:
    headings = [line for line in markdown(app, "tool").splitlines() if line.startswith("#")]
    assert headings == ["## tool", "### tool plain", "### tool group", "#### tool group inner", "### tool hidden"]


def test_text_stays_text(app: typer.Typer) -> None:
    text = markdown(app, "tool")
    assert r"A \*tool\*." in text
    assert r": Files like \*.toml, \<name\>\_\<n\> or `a_b`." in text
    assert "Of more than one line." in text


def test_markdown_shows_options_with_defaults_and_omits_hidden_options(app: typer.Typer) -> None:
    text = markdown(app, "tool")
    assert "tool plain [OPTIONS] NAME" in text
    assert "`--size N`\n: How large. \\[default: 3\\]" in text
    assert "secret" not in text and "--help" not in text


def test_manual_is_independent_of_the_terminal(app: typer.Typer, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = markdown(app, "tool")
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert markdown(app, "tool") == usual


def said(*arguments: str, code: int = 0) -> str:
    done = call(("metrics", *arguments), dict(os.environ), 60)
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


def test_list_has_each_metric_with_unit_and_meaning_and_no_markdown() -> None:
    lines = said().splitlines()
    assert [line.split()[0] for line in lines if not line.startswith(" ")] == list(REGISTRY)
    assert "l2_mpki (misses per 1000 instructions)" in lines
    assert "|" not in "".join(lines)


def test_flattened_name_shows_the_metric_with_its_formula() -> None:
    text = said("cpi.memory")
    assert text.startswith("cpi (cycles per instruction)\n") and "\n    = busy_cycles / instructions" in text


def test_part_of_a_name_shows_all_metrics_with_it() -> None:
    assert {one["name"] for one in json.loads(said("queue_", "--json"))} == {"queue_utilisation", "queue_wait"}


def test_unknown_name_is_answered_with_the_nearest() -> None:
    assert "there is no metric `l2_mpkj`: did you mean l2_mpki?" in said("l2_mpkj", code=2)
