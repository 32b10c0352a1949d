# SPDX-License-Identifier: GPL-2.0-or-later
"""Text of foreign files on the terminal: no escape sequence, no markup, no long words."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console
from tests.experiment.test_checkpoint_store import make
from tests.lab import Lab

from s80lab.base.terminal import counted, disk_size, plain, plain_text, quoted, say, short_time, wrapped
from s80lab.commands.output import print_json
from s80lab.experiment.checkpoint import STORE
from s80lab.report.tables import Cell, Row, Table
from s80lab.report.terminal import print_table

HOSTILE = "\x1b]0;title\x07[red]text[/] \x9b31m\r\u202e"
PLAIN = r"\x1b]0;title\x07[red]text[/] \x9b31m\r\u202e"


def test_plain_escapes_control_characters_and_keeps_the_rest() -> None:
    assert plain(HOSTILE) == PLAIN
    assert plain("two\nlines\tµ → \xa0é") == "two\nlines\tµ → \xa0é"


def test_plain_text_has_no_markup() -> None:
    assert plain_text(HOSTILE, "bold").plain == PLAIN


def test_quoted_is_one_short_line() -> None:
    assert quoted("a\nb") == r"`a\nb`"
    assert quoted("x" * 10**6) == f"`{'x' * 60}...`"


def test_wrapped_breaks_lines_at_blanks_outside_of_backquotes() -> None:
    text = "there is no run: `s80lab run imapb` makes one, see docs"
    assert wrapped(text, 24) == "there is no run:\n`s80lab run imapb` makes\none, see docs"
    assert wrapped(text, 10).split("\n") == ["there is", "no run:", "`s80lab run imapb`", "makes one,", "see docs"]
    assert wrapped("a bc\n  de fg", 4, indent=2) == "a bc\n  de\n  fg"
    assert wrapped("a ` b", 3) == "a `\nb"
    assert wrapped(text, None) == text


def test_say_to_a_file_keeps_long_lines_and_escapes_control_characters() -> None:
    stream = io.StringIO()
    say("word " * 50 + "\x1b", stream)
    assert stream.getvalue() == "word " * 50 + "\\x1b\n"


def test_numbers_have_their_noun_and_their_unit() -> None:
    assert [counted(number, "run") for number in (0, 1, 2)] == ["0 runs", "1 run", "2 runs"]
    assert counted(2, "match", "matches") == "2 matches"
    assert [disk_size(size) for size in (0, 19_400_000, 999_600_000, 18_200_000_000)] == [
        *("0 MB", "19 MB", "1.0 GB", "18.2 GB")
    ]


def test_short_time_has_no_seconds_and_keeps_other_texts() -> None:
    assert short_time("2026-11-26T07:35:12+00:00") == short_time("2026-11-26 07:35:12") == "2026-11-26 07:35"
    assert short_time("yesterday") == "yesterday"


def test_print_table_shows_foreign_text_as_it_is() -> None:
    table = Table(HOSTILE, (HOSTILE,), note=HOSTILE)
    table.rows.append(Row(HOSTILE, (Cell(HOSTILE),), detail=HOSTILE))
    console = Console(width=200, file=io.StringIO(), force_terminal=True, color_system=None)
    print_table(table, console, details=True)
    assert isinstance(console.file, io.StringIO)
    said = console.file.getvalue()
    assert said.count(PLAIN) == 7 and "\x1b" not in said and "\x9b" not in said


def test_print_json_escapes_what_a_terminal_obeys(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"text": HOSTILE + "\x7f"})
    said = capsys.readouterr().out
    assert json.loads(said) == {"text": HOSTILE + "\x7f"}
    assert not {"\x1b", "\x07", "\x9b", "\x7f"} & set(said)


def test_checkpoint_list_shows_escape_sequences_of_a_manifest_as_text(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "checkpoints", tmp_path / "results")
    with lab.entered():
        found = make(lab.checkpoints, "ready-a")
        STORE.record(found.manifest.model_copy(update={"created": HOSTILE}))
    said = lab.call("checkpoint", "list")
    assert PLAIN in said and "\x1b" not in said and "\x9b" not in said


def test_message_shows_escape_sequences_of_a_file_as_text(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "checkpoints", tmp_path / "results")
    (tmp_path / "x.toml").write_text('"\\u001b[31m" = 1\n')
    said = lab.call("trace", "step", "docs/traces/migratory.trace", "--machine", str(tmp_path / "x.toml"), code=2)
    assert r"\x1b[31m" in said and "\x1b" not in said
