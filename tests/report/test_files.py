# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of a report: each is complete, also if the disk is full or the process is killed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.lab import LIMIT_S

from s80lab.report.figures.all import Picture
from s80lab.report.page import write_files

# Writes a page and a figure of 100 kB each, but no file may get more than 50 kB. `signal`: the kernel kills the process
# at the first byte too many; `error`: the write fails, as on a full disk.
WRITER = """
import resource, signal, sys
from pathlib import Path
from s80lab.base.errors import UserError
from s80lab.report.figures.all import Picture
from s80lab.report.page import write_files
folder, end, large = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
if end == "signal":
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
page = "new page" * (12_500 if large == "page" else 1)
figure = "<svg><!--" + "x" * (100_000 if large == "figure" else 1) + "--></svg>"
try:
    write_files(folder, page, [Picture("one", "One", "", figure)])
except UserError as error:
    print(error)
"""


@pytest.mark.parametrize("end", ["signal", "error"])
@pytest.mark.parametrize("large", ["page", "figure"])
def test_write_files_that_fails_keeps_the_old_file(tmp_path: Path, end: str, large: str) -> None:
    figure = Picture("one", "One", "", "<svg></svg>")
    page = write_files(tmp_path, "old page", [figure])
    kept = page if large == "page" else tmp_path / "figures" / "one.svg"
    old = kept.read_bytes()
    words = [sys.executable, "-c", WRITER, str(tmp_path), end, large]
    done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S)
    assert kept.read_bytes() == old
    if end == "error":
        assert done.returncode == 0 and done.stdout == f"{kept}: cannot be written (File too large)\n"
    else:
        assert done.returncode < 0
    assert write_files(tmp_path, "new page", [figure]).read_text() == "new page"
    assert {path.name for path in tmp_path.rglob("*")} == {"report.html", "figures", "one.svg"}
