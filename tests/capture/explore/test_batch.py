# SPDX-License-Identifier: GPL-2.0-or-later
"""The job script of `s80lab batch --slurm`, run by the shell as a batch system would: tasks, and the signal before the
limit. tests/cluster has a real Slurm."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.capture.conftest import write_capture
from tests.lab import LIMIT_S, Lab

from s80lab.commands.batch import _ready_command

GRID = ("--vary", "protocol=msi,moesi", "--vary", "l2.size=32KiB..64KiB")


def script(lab: Lab, *words: str) -> str:
    return lab.answer("batch", "--slurm", *words)


def task(text: str, number: int, folder: Path, **more: str) -> subprocess.Popen[str]:
    """One task of the array, as the node's shell runs it; it has nothing of this process's environment but the path."""
    file = folder / "job.sh"
    file.write_text(text)
    environment = {"PATH": os.environ["PATH"], "SLURM_ARRAY_TASK_ID": str(number), "SLURM_JOB_ID": "17", **more}
    return subprocess.Popen(
        ["bash", file],
        env=environment,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_batch_tasks_run_all_designs_and_write_no_database(place: Lab, drawn_file: Path, tmp_path: Path) -> None:
    text = script(place, "--tasks", "3", "--stage", str(tmp_path / "node"), "explore", str(drawn_file), *GRID)
    assert "#SBATCH --array=1-3\n" in text and "#SBATCH --mem=512M\n" in text
    assert "#SBATCH --signal=B:TERM@60\n#SBATCH --requeue\n" in text
    (tmp_path / "node").mkdir()
    for number in (1, 2, 3):
        said, _ = (process := task(text, number, tmp_path)).communicate(timeout=LIMIT_S)
        assert process.returncode == 0 and f"shard {number}/3" in said, said
    assert len(place.runs()) == 4 and not (place.results / "s80lab.sqlite").exists()
    assert list((tmp_path / "node").iterdir()) == []  # the task's copies are gone
    assert "4 runs: 0 copied" in place.call("collect") and "4 entered" not in place.call("collect")


def test_stderr_names_the_steps_after_the_script(place: Lab, drawn_file: Path) -> None:
    said = place.call("batch", "--slurm", "--tasks", "2", "explore", str(drawn_file), *GRID)
    steps = "Submit the script with sbatch. When all tasks have ended, run `s80lab collect`.\n"
    assert said.endswith(f"\n4 runs in 2 tasks of about 1 minute. {steps}")


def test_ready_checkpoint_is_built_with_the_options_of_the_run_that_it_depends_on() -> None:
    words = "run imapb imape --scale tiny --set l2.size=1MiB --set line_bytes=64 --server=uw --misses --seeds 1,2"
    command = "s80lab checkpoint build imapb imape --stage ready --server uw --scale tiny"
    settings = "--set l2.size=1MiB --set line_bytes=64"
    assert " ".join(_ready_command(words.split())) == f"{command} {settings}"


def test_batch_task_ended_by_signal_leaves_no_partial_run_and_resumes(place: Lab, tmp_path: Path) -> None:
    capture = write_capture(tmp_path / "long.s80c", accesses=1_000_000)
    text = script(place, "--tasks", "1", "explore", str(capture), "--vary", "l2.size=16KiB..1MiB")
    process = task(text, 1, tmp_path)
    while not place.partial():
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.005)
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 130, said
    assert "interrupted: complete results are kept" in said and place.partial() == []
    done = len(place.runs())
    said, _ = (process := task(text, 1, tmp_path)).communicate(timeout=LIMIT_S)  # as --requeue does
    assert process.returncode == 0 and f"7 designs, {done} of them replayed already" in said
    assert len(place.runs()) == 7


def test_batch_task_without_its_folder_runs_no_design(
    place: Lab, drawn_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In another folder the same words may name another laboratory."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    text = script(place, "--tasks", "1", "explore", str(drawn_file), *GRID)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").rmdir()
    said, _ = (process := task(text, 1, tmp_path)).communicate(timeout=LIMIT_S)
    assert process.returncode == 1 and "No such file or directory" in said and place.runs() == []


def test_stage_path_may_contain_a_blank(place: Lab, drawn_file: Path, tmp_path: Path) -> None:
    text = script(place, "--tasks", "1", "--stage", "$PLACE/own disk", "explore", str(drawn_file), *GRID)
    (stage,) = [line for line in text.splitlines() if line.startswith("export S80LAB_STAGE=")]
    words = ["bash", "-c", f'{stage}; echo "$S80LAB_STAGE"']
    environment = {"PLACE": str(tmp_path), "SLURM_JOB_ID": "17"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (f"{tmp_path}/own disk/s80lab-17\n", "")


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("--option=--partition=short\ntouch P", r"batch --option `--partition=short\ntouch P`: omit line feeds"),
        ("--option=a\rb", "omit line feeds and other control characters"),
        ('--stage=/tmp/"; touch P; "', "batch --stage"),
        ("--stage=$(touch P)", "batch --stage `$(touch P)`: write a path"),
        ("--stage=`touch P`", "which the shell of a task would interpret"),
        ("--stage=a\nb", "which the shell of a task would interpret"),
        ("--stage=a\\", "which the shell of a task would interpret"),
        ("--stage=${X:-$(touch P)}", "which the shell of a task would interpret"),
    ],
)
def test_batch_options_that_would_add_commands_are_refused(
    place: Lab, drawn_file: Path, option: str, sentence: str
) -> None:
    said = place.call("batch", "--slurm", option, "explore", str(drawn_file), *GRID, code=2)
    assert sentence in said and len(said.splitlines()) == 1


def test_batch_odd_names_of_variables_are_not_exported(place: Lab, drawn_file: Path) -> None:
    odd = {"S80LAB_X;touch P;A": "1", "S80LAB_X\ntouch P": "1", "S80LAB_ODD": "$(touch P)\n'"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in odd.items():
            patch.setenv(name, value)
        text = script(place, "explore", str(drawn_file), *GRID)
    assert "S80LAB_X" not in text
    exported = text[text.index("export S80LAB_ODD=") : text.index("export S80LAB_RESULTS=")]
    done = subprocess.run(["bash", "-c", f'{exported}printf %s "$S80LAB_ODD"'], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("$(touch P)\n'", "")


def test_time_and_memory_are_of_what_is_to_be_done(place: Lab, drawn_file: Path) -> None:
    text = script(place, "--cpus", "2", "explore", str(drawn_file), *GRID)
    assert "in 1 task of about 1 minute" in text and "#SBATCH --mem=1024M\n#SBATCH --time=10\n" in text
    text = script(
        place,
        *("--minutes", "90", "--memory", "99", "--tasks", "50", "--option=--partition=short"),
        *("explore", str(drawn_file), *GRID),
    )
    assert "#SBATCH --array=1-4\n" in text  # no more tasks than designs
    assert re.search(r"--mem=99M\n#SBATCH --time=90\n(.*\n)*#SBATCH --partition=short\nset -u\n", text)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["explore", "DRAWN", *GRID], "no batch system is named: add --slurm"),
        (["--slurm", "replay", "DRAWN"], "batch replay: only the commands `run` and `explore` can be split into tasks"),
        (["--slurm", "explore", "DRAWN", *GRID, "--shard=1/2"], "batch: omit --shard after `explore`"),
        (["--slurm", "explore", "DRAWN", *GRID, "--jobs", "3"], "batch: omit --jobs after `explore`"),
        (["--slurm", "explore", "DRAWN"], "explore needs at least one --vary option"),
        (["--slurm", "explore", "--help"], "`s80lab explore --help --list --json` prints no list of runs"),
        (["--slurm", "explore", "missing.s80c", *GRID], "there is no capture file missing.s80c"),
    ],
)
def test_unsuitable_batch_command_is_refused(place: Lab, drawn_file: Path, words: list[str], sentence: str) -> None:
    said = place.call("batch", *(str(drawn_file) if word == "DRAWN" else word for word in words), code=2)
    assert sentence in said and len(said.splitlines()) == 1
