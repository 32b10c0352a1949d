# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab lesson`: every shipped trace is a lesson, and a wrong name is answered with the nearest one."""

from __future__ import annotations

import os
from pathlib import Path

from tests.forked import call

from s80lab.base import paths


def said(*arguments: str, code: int = 0) -> str:
    done = call(("lesson", *arguments), dict(os.environ), 60)
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


def test_lesson_list_names_every_trace_with_its_title() -> None:
    lines = said("--list").splitlines()
    assert [line.split()[0] for line in lines] == sorted(trace.stem for trace in paths.LESSONS.glob("*.trace"))
    assert all(len(line.split(maxsplit=1)[1]) > 20 for line in lines)


def test_lesson_steps_through_the_protocol_that_is_asked_for() -> None:
    assert "protocol hammer" in said("migratory")
    assert "protocol moesi" in said("migratory", "--protocol", "moesi")


def test_lesson_unknown_name_is_answered_with_the_nearest() -> None:
    assert ": did you mean migratory?" in said("migratry", code=2)


def test_lesson_of_a_file_names_trace_step() -> None:
    sentence = "`docs/traces/migratory.trace` is a file, and `lesson` takes a name"
    assert f"{sentence}: write `s80lab trace step docs/traces/migratory.trace`" in said(
        "docs/traces/migratory.trace", code=2
    )


def test_trace_step_of_a_lesson_names_lesson() -> None:
    done = call(("trace", "step", "migratory"), dict(os.environ), 60)
    assert done.returncode == 2
    assert done.stderr.endswith("but a lesson of this name: write `s80lab lesson migratory`\n")


def test_lesson_html_writes_the_page(tmp_path: Path) -> None:
    page = tmp_path / "lesson.html"
    assert str(page) in said("--html", str(page))
    assert "<title>" in page.read_text(encoding="utf-8")
