# SPDX-License-Identifier: GPL-2.0-or-later
"""Settings in the comments of a text trace (`# set: KEY=VALUE`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from s80lab.base.errors import UserError
from s80lab.trace.source import Wanted, load


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("a" + ".a" * 30_000 + "=1", r"x\.trace, line 2: tables and lists are nested more than 32 levels deep"),
        (
            "clock.base_cpi=inf",
            r"x\.trace, line 2: key `clock.base_cpi`: `Infinity` is not allowed; write a finite number",
        ),
        (
            "processors.clock_hz=9223372036854775808",
            r"x\.trace, line 2: key `processors.clock_hz`: the number has more than 64 bits",
        ),
    ],
)
def test_hostile_setting_in_a_trace_is_refused(tmp_path: Path, setting: str, message: str) -> None:
    path = tmp_path / "x.trace"
    path.write_text(f"# machine: s80\n# set: {setting}\n0 load 0x10\n")
    with pytest.raises(UserError, match=message):
        load(path, Wanted())
