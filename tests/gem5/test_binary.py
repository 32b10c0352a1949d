# SPDX-License-Identifier: GPL-2.0-or-later
"""A gem5 that cannot do the job is refused before it has worked for hours. The answers are those of about.py;
tests/gem5/test_live.py asks a real one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from s80lab.base.errors import UserError
from s80lab.gem5.binary import complaint, log_text, read_facts, require

GOOD = {"gem5": "24.0.0.1", "release": "24.0", "protocols": ["MOESI_hammer"], "isa": ["X86"], "bits_per_set": 128}


def answering(folder: Path, answer: str, code: int = 0) -> Path:
    gem5 = folder / "gem5.fast"
    gem5.write_text(f"#!/bin/sh\necho 'gem5 Simulator System.'\necho '{answer}'\nexit {code}\n")
    gem5.chmod(0o755)
    return gem5


def test_gem5_with_all_features_is_accepted(tmp_path: Path) -> None:
    require(answering(tmp_path, json.dumps(GOOD)), x86=True)


def test_gem5_of_later_version_with_all_features_is_accepted(tmp_path: Path) -> None:
    later = GOOD | {"gem5": "26.0.0.0", "protocols": ["CHI", "MOESI_hammer"]}
    assert require(answering(tmp_path, json.dumps(later)), x86=True).version == "26.0.0.0"


def test_gem5_without_x86_is_accepted_for_replay(tmp_path: Path) -> None:
    require(answering(tmp_path, json.dumps(GOOD | {"isa": []})), x86=False)


@pytest.mark.parametrize(
    ("answer", "refusal"),
    [
        (json.dumps(GOOD | {"protocols": ["CHI", "MSI"]}), "was built with CHI, MSI; build it with MOESI_hammer"),
        (json.dumps(GOOD | {"protocols": []}), "was built with no protocol of Ruby; build it with MOESI_hammer"),
        (json.dumps(GOOD | {"isa": ["ARM"]}), "was built without X86, which the guest needs"),
        ("usage: gem5 [options]", "did not report its version and build options"),
        ("[]", "did not report its version and build options"),
        ("[" * 100_000, "did not report its version and build options"),
    ],
)
def test_gem5_without_a_needed_feature_is_refused(tmp_path: Path, answer: str, refusal: str) -> None:
    with pytest.raises(UserError, match=refusal):
        require(answering(tmp_path, answer), x86=True)


def test_endless_output_is_cut_and_refused(tmp_path: Path) -> None:
    """The program prints more than any memory holds; it is ended after the first bytes."""
    gem5 = tmp_path / "gem5.fast"
    gem5.write_text("#!/bin/sh\nexec yes\n")
    gem5.chmod(0o755)
    with pytest.raises(UserError, match="did not report its version and build options"):
        require(gem5, x86=True)


def test_long_log_is_read_from_its_end(tmp_path: Path) -> None:
    log = tmp_path / "gem5.log"
    with log.open("wb") as file:
        file.truncate(1 << 36)
        file.seek(0, 2)
        file.write(b"\nfatal: out of memory\n")
    assert len(log_text(log)) == 1 << 20 and complaint(log_text(log)) == "fatal: out of memory"


@pytest.mark.parametrize("content", ["5", "[" * 100_000, "", '{"rows": '])
def test_facts_of_another_form_are_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "facts.json").write_text(content)
    with pytest.raises(UserError, match="is not a JSON object of facts"):
        read_facts(tmp_path / "facts.json")
