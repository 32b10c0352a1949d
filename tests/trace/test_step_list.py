# SPDX-License-Identifier: GPL-2.0-or-later
"""A stepped trace as a list: what a line says, and that no line is wider than the terminal."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from s80lab.base import paths
from s80lab.trace import source, step, step_table
from s80lab.trace.step_table import show_list


def listed(trace: Path, width: int) -> list[str]:
    played = step.lesson(source.load(trace, source.Wanted()), trace.stem)
    console = Console(width=width, file=io.StringIO(), record=True, highlight=False)
    show_list(played, console)
    return console.export_text().splitlines()


@pytest.mark.parametrize("width", [60, 200])
def test_step_shows_markup_and_control_characters_of_a_trace_as_text(tmp_path: Path, width: int) -> None:
    trace = tmp_path / "markup.trace"
    trace.write_text(
        "# Title [red] \x1b]0;window\x07\n# machine: classroom\n0 load 0x10 # read a[i] and b[red]\n"
        "0 load 0x10 # a [/] b \x1b[2J\n"
    )
    played = step.lesson(source.load(trace, source.Wanted()), trace.stem)
    for show in (show_list, step_table.show):
        console = Console(width=width, file=io.StringIO(), force_terminal=True, color_system=None, highlight=False)
        show(played, console)
        assert isinstance(console.file, io.StringIO)
        text = console.file.getvalue()
        assert "\x1b]" not in text and "\x1b[2J" not in text and "\x07" not in text
        if width == 200 or show is show_list:
            assert all(part in text for part in (r"[red] \x1b]0;window\x07", "a[i] and b[red]", r"a [/] b \x1b[2J"))


def test_step_list_says_state_changes_supplier_and_stall(tmp_path: Path) -> None:
    trace = tmp_path / "two.trace"
    trace.write_text("# Two cores\n# machine: classroom\n# protocol: moesi\n0 store 0x100  # mine\n1 load 0x100\n")
    lines = listed(trace, 80)
    assert lines[:2] == ["Two cores", "Machine classroom, protocol moesi. A = line 0x100"]
    assert lines[2] == "M 2: state M, value 2. Memory holds 0 at first; the n-th store writes n."
    assert lines[3] == " 1  core 0 stores to A  I → M 1, memory supplies, 100 cycles"
    assert "    # mine" in lines
    assert " 2  core 1 loads A      I → S 1, core 0 M → O 1, core 0 supplies, 50 cycles" in lines


@pytest.mark.parametrize("width", [40, 60, 80])
@pytest.mark.parametrize("trace", sorted(paths.LESSONS.glob("*.trace")), ids=lambda trace: trace.stem)
def test_step_list_fits_every_lesson_into_the_width(trace: Path, width: int) -> None:
    lines = listed(trace, width)
    assert max(map(len, lines)) <= width
    assert not any("…" in line for line in lines)
