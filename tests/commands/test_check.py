# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab check`: a sentence with the line for each problem of a file, or that the file is right."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.lab import Lab

from s80lab.base import paths
from s80lab.base.strict import find
from s80lab.base.suggest import names
from s80lab.experiment.check import KINDS, check_file


def file(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def changed(folder: Path, source: Path, *changes: tuple[str, str]) -> Path:
    """A copy of a shipped file with texts replaced."""
    text = source.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return file(folder, source.name, text)


FOLDERS = {kind.folder: name for name, kind in reversed(list(KINDS.items()))}
"""The kind of file in each shipped folder. Experiments of programs lie beside others, and none is shipped."""
SHIPPED = [find("file", folder, name) for folder in FOLDERS for name in names(folder)]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_shipped_files_pass_check(path: Path) -> None:
    checked = check_file(path)
    assert checked.problems == () and checked.sentences()[0].startswith(
        f"{path.relative_to(paths.ROOT)}: right ({checked.kind} "
    )


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_file_elsewhere_is_recognised_by_its_keys(path: Path, tmp_path: Path) -> None:
    (kind,) = [name for folder, name in FOLDERS.items() if path.parent in paths.places(folder)]
    assert check_file(changed(tmp_path, path)).kind == kind


def test_check_gives_the_line_of_each_machine_problem(tmp_path: Path) -> None:
    path = changed(
        tmp_path,
        paths.MACHINES / "s80.toml",
        ("line_bytes = 128", 'line_bytes = "wide"'),
        ("count = 18\n", "count = 18\nthread_per_core = 1\n"),
        ("ways = 4\n", 'ways = 4\ninclusion = "inclusiv"\n'),
        ("memory = 110\n", ""),
    )
    checked = check_file(path)
    assert [(problem.line, problem.text) for problem in checked.problems] == [
        (7, "key `line_bytes`: `wide` is not allowed; write a whole number"),
        (
            11,
            "unknown key `processors.thread_per_core`: did you mean threads_per_core? (allowed are clock_hz, count, "
            "threads_per_core)",
        ),
        (
            25,
            "key `l2.inclusion`: `inclusiv` is not one of its values; did you mean inclusive? (allowed are "
            "exclusive, exclusive-textbook, inclusive, inclusive-gem5)",
        ),
        (27, "the key `latency.memory` is missing"),
    ]


def test_problem_of_several_keys_has_the_line_of_the_first_key(tmp_path: Path) -> None:
    checked = check_file(changed(tmp_path, paths.MACHINES / "s80.toml", ('size = "8MiB"', 'size = "7MiB"')))
    (problem,) = checked.problems
    assert problem.line == 22 and problem.text.startswith("l2.size = 7340032 bytes in 4 ways of 128-byte lines makes")


def test_protocol_that_does_not_exist_is_a_problem_of_a_machine(tmp_path: Path) -> None:
    checked = check_file(changed(tmp_path, paths.MACHINES / "s80.toml", ('"moesi"', '"moesy"')))
    (problem,) = checked.problems
    assert (
        problem.line == 6 and "there is no protocol `moesy`" in problem.text and "did you mean moesi?" in problem.text
    )


def test_name_of_another_file_is_a_problem_of_a_machine(tmp_path: Path) -> None:
    path = file(tmp_path, "eight.toml", (paths.MACHINES / "s80.toml").read_text())
    (sentence,) = check_file(path).sentences()
    assert sentence == f'{path}, line 4: key `name`: `s80` is not the name of the file; write name = "eight"'


def test_broken_cell_of_a_protocol_has_its_line(tmp_path: Path) -> None:
    text = (paths.PROTOCOLS / "msi.toml").read_text()
    line = text[: text.index('I = { bus = "read", next = "S" }')].count("\n") + 1
    path = file(tmp_path, "msi.toml", text.replace('I = { bus = "read", next = "S" }', 'I = { next = "S" }', 1))
    (problem,) = check_file(path).problems
    assert (problem.line, problem.text) == (
        line,
        "own.load.I: a miss needs data, but the cell has no `bus`; write bus = read or rfo",
    )


def test_names_and_scales_of_an_experiment_are_checked(tmp_path: Path) -> None:
    path = file(
        tmp_path,
        "mine.toml",
        'description = "x"\nbase = "imapb"\nmachine = "s81"\nworkload = "imapa"\n[phases.smal]\n'
        "warmup_min = 9\nwarmup_max = 9\nsampling_interval = 1\nmeasure = 1\n",
    )
    checked = check_file(path)
    assert checked.kind == "experiment"
    assert [(one.line, one.text.split(":")[0], "did you mean" in one.text) for one in checked.problems] == [
        (3, "key `machine`", True),
        (4, "key `workload`", True),
        (5, "[phases.smal]", True),
    ]


def test_wrong_point_of_a_sweep_is_a_problem_of_an_experiment(tmp_path: Path) -> None:
    path = file(tmp_path, "mine.toml", 'description = "x"\nbase = "imapb"\n\n[sweep]\n"l2.sise" = ["1MiB"]\n')
    (problem,) = check_file(path).problems
    assert problem.line == 4 and "unknown key `l2.sise`: did you mean size?" in problem.text


def test_syntax_error_has_its_line(tmp_path: Path) -> None:
    (sentence,) = check_file(file(tmp_path, "x.toml", 'name = "a"\ncount = = 3\n')).sentences()
    assert sentence.startswith(f"{tmp_path}/x.toml, line 2: is not TOML: ")


def test_file_of_no_known_kind_is_a_problem(tmp_path: Path) -> None:
    (sentence,) = check_file(file(tmp_path, "x.toml", "colour = 3\n")).sentences()
    assert "the keys are of no known kind of file (machine, protocol, experiment, program, workload, " in sentence


def test_exit_code_and_json_state_whether_all_files_are_right(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "checkpoints", tmp_path / "results")
    assert lab.call("check", "configs/machines/s80.toml") == (
        "configs/machines/s80.toml: right (machine s80: 18 processors at 450 MHz, L2 of 8MiB in 4 ways, 128-byte "
        "lines, protocol moesi)\n"
    )
    bad = changed(tmp_path, paths.SCALES / "tests" / "tiny.toml", ("users =", "user ="))
    said = lab.call("check", "configs/machines/s80.toml", str(bad), code=1)
    assert len(said.splitlines()) == 2 and "unknown key `user`: did you mean users?" in said
    told = json.loads(lab.call("check", str(bad), "--json", code=1))
    assert [(one["kind"], one["right"], len(one["problems"])) for one in told] == [("scale", False, 1)]
    missing = lab.call("check", "s80", code=1)
    assert missing == "s80: the file does not exist; did you mean configs/machines/s80.toml?\n"
