# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands as Markdown: what --help shows, hidden commands last, its text not taken for marks."""

from __future__ import annotations

from typing import Annotated

import pytest
import typer

from s80lab.commands.manual import markdown


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


def test_the_terminal_does_not_matter(app: typer.Typer, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = markdown(app, "tool")
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert markdown(app, "tool") == usual
