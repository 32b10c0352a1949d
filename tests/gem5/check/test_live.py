# SPDX-License-Identifier: GPL-2.0-or-later
"""The check on the user's own gem5, if one is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from s80lab.gem5.check.run import check


def test_check_certifies_the_users_gem5(gem5: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("S80LAB_GEM5_CHECKS", str(tmp_path))
    verdict = check(gem5)
    assert verdict.certified, verdict.reason()
