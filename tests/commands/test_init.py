# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab init` in a folder that cannot be made. tests/test_wheel.py makes a lab with an installed package."""

from __future__ import annotations

from pathlib import Path

import pytest

from s80lab.base.errors import UserError
from s80lab.commands.init import make_lab


def test_make_lab_name_with_nul_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="the name of a folder cannot contain a NUL character"):
        make_lab(tmp_path / "lab\0")
    assert list(tmp_path.iterdir()) == []
