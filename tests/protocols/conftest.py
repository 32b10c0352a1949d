# SPDX-License-Identifier: GPL-2.0-or-later
"""Proofs of this session only: nothing that an earlier one has kept may make a test pass."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def proofs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("S80LAB_PROOFS", str(tmp_path_factory.mktemp("proofs")))
        yield
