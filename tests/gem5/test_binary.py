# SPDX-License-Identifier: GPL-2.0-or-later
"""A gem5 that cannot do the job is refused before it has worked for hours. The answers are those of about.py;
tests/gem5/test_live.py asks a real one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from s80lab.base.errors import UserError
from s80lab.gem5.binary import require

GOOD = {"gem5": "24.0.0.1", "release": "24.0", "protocols": ["MOESI_hammer"], "isa": ["X86"], "bits_per_set": 128}


def answering(folder: Path, answer: str, code: int = 0) -> Path:
    gem5 = folder / "gem5.fast"
    gem5.write_text(f"#!/bin/sh\necho 'gem5 Simulator System.'\necho '{answer}'\nexit {code}\n")
    gem5.chmod(0o755)
    return gem5


def test_one_that_can(tmp_path: Path) -> None:
    require(answering(tmp_path, json.dumps(GOOD)), x86=True)


def test_any_version_is_accepted_because_the_check_decides(tmp_path: Path) -> None:
    later = GOOD | {"gem5": "26.0.0.0", "protocols": ["CHI", "MOESI_hammer"]}
    assert require(answering(tmp_path, json.dumps(later)), x86=True).version == "26.0.0.0"


def test_a_replay_needs_no_guest(tmp_path: Path) -> None:
    require(answering(tmp_path, json.dumps(GOOD | {"isa": []})), x86=False)


@pytest.mark.parametrize(
    ("answer", "refusal"),
    [
        (json.dumps(GOOD | {"protocols": ["CHI", "MSI"]}), "was built with CHI, MSI; build it with MOESI_hammer"),
        (json.dumps(GOOD | {"protocols": []}), "was built with no protocol of Ruby; build it with MOESI_hammer"),
        (json.dumps(GOOD | {"isa": ["ARM"]}), "was built without X86, which the guest needs"),
        ("usage: gem5 [options]", "did not report its version and build options"),
        ("[]", "did not report its version and build options"),
    ],
)
def test_one_that_cannot(tmp_path: Path, answer: str, refusal: str) -> None:
    with pytest.raises(UserError, match=refusal):
        require(answering(tmp_path, answer), x86=True)
