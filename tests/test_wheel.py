# SPDX-License-Identifier: GPL-2.0-or-later
"""What the package does outside its checkout without a guest."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.lab import LIMIT_S
from tests.wheel import Installed


def test_it_proves_every_protocol(installed: Installed) -> None:
    assert installed.call("protocol", "check", "--all").count(": proven for 3 caches") == 8


def test_it_steps_through_a_lesson(installed: Installed) -> None:
    said = installed.call("trace", "step", "docs/traces/migratory.trace", "--protocol", "hammer")
    assert "A: the line at 0x" in said


def test_python_reads_what_comes_with_it(installed: Installed) -> None:
    """Without pandas, which is an extra."""
    code = "from s80lab import Lab; print([run.manifest['seed'] for run in Lab().reference('small')])"
    python = [str(installed.program.with_name("python")), "-c", code]
    done = subprocess.run(
        python, cwd=installed.lab, env=installed.environment(), capture_output=True, text=True, timeout=LIMIT_S
    )
    assert done.stdout == "[1, 2, 3, 1, 2, 3]\n", done.stderr


def test_a_protocol_of_the_lab_is_found_and_proven(installed: Installed) -> None:
    installed.call("protocol", "new", "mine")
    assert (installed.lab / "configs" / "protocols" / "mine.toml").is_file()
    assert "mine.toml: proven" in installed.call("protocol", "check", "mine")
    (installed.lab / "configs" / "protocols" / "mine.toml").unlink()


def test_a_lab_is_found_from_below_and_by_the_environment(installed: Installed, tmp_path: Path) -> None:
    below = installed.lab / "docs" / "traces"
    assert str(installed.lab / "build") in installed.call("doctor", here=below, code=1)
    elsewhere = installed.call("doctor", here=tmp_path, code=1, S80LAB_HOME=str(installed.lab))
    assert str(installed.lab / "build") in elsewhere


def test_a_folder_in_use_is_no_new_lab(installed: Installed, tmp_path: Path) -> None:
    (tmp_path / "mail").write_text("mine")
    said = installed.call("init", str(tmp_path), code=2)
    assert said == f"s80lab: {tmp_path} is not empty: name a new folder\n"
    assert "is a lab already" in installed.call("init", str(installed.lab), code=2)
