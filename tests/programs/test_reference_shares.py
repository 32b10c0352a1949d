# SPDX-License-Identifier: GPL-2.0-or-later
"""The comparison of headline shares with the reference order of accesses."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.lab import Lab
from tests.programs.reference_shares import (
    ATTRIBUTED,
    DEFAULT,
    FROM_O,
    NAMES,
    ORDERS,
    OTHER_PATH,
    REFERENCE,
    Values,
    between_paths,
    difference_table,
    from_default,
    main,
    measure_region,
    read_values,
    too_far,
)

from s80lab.commands.pipeline import make_plans
from s80lab.experiment import checkpoint
from s80lab.experiment.plan import Options
from s80lab.results.metrics.derive import compute
from s80lab.results.run_folder import RunFolder

MEMORY = "miss_source.all.memory"


def pair(reference: float, other_path: float = 0.0, default: float = 0.5) -> Mapping[str, Values]:
    """The regions of a checkpoint. `reference` is the difference from the mean of the default's two paths, `other_path`
    the difference between these."""
    shares = {
        DEFAULT.name: default - other_path / 2,
        OTHER_PATH.name: default + other_path / 2,
        REFERENCE.name: default + reference,
    }
    return {name: dict.fromkeys(NAMES | ATTRIBUTED, share) for name, share in shares.items()}


def test_difference_is_the_mean_over_the_pairs_with_its_interval() -> None:
    pairs = [pair(0.01, 0.1, default=0.2), pair(0.03, -0.3, default=0.7)]
    found = from_default(pairs, MEMORY)
    assert found is not None and found.half_width is not None
    assert found.mean == pytest.approx(0.02)
    assert found.half_width == pytest.approx(0.01 * 12.706, rel=1e-4)
    chance = between_paths(pairs, MEMORY)
    assert chance is not None and chance.mean == pytest.approx(-0.1)


def test_difference_of_an_undefined_share_is_undefined_and_too_far() -> None:
    undefined: Mapping[str, Values] = {order.name: dict.fromkeys(NAMES, None) for order in ORDERS}
    assert from_default([pair(0), undefined], MEMORY) is None
    assert len(too_far([pair(0), undefined])) == len(NAMES)


def test_share_is_too_far_if_its_mean_difference_exceeds_a_point() -> None:
    assert too_far([pair(0.05), pair(-0.04)]) == []
    assert NAMES[MEMORY] in too_far([pair(0.05), pair(-0.02)])
    assert NAMES[MEMORY] in too_far([pair(-0.011)])


def test_table_has_the_differences_in_points() -> None:
    (row, *_) = difference_table([pair(0.004, 0.02), pair(0.006, 0.02)]).rows
    assert [cell.text for cell in row.cells] == ["50.0%", "50.5%", "0.50 ± 1.27", "2.00 ± 0.00"]


def test_malformed_seeds_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--seeds", "1-4", "--folder", str(tmp_path)])
    assert "--seeds 1-4: write whole numbers separated by commas, for example 1,2,3,4" in capsys.readouterr().err


@pytest.mark.guest
def test_reference_has_short_slices_and_filters_no_access(whole: Lab, tmp_path: Path) -> None:
    """Both orders from one warm checkpoint, over the same length."""
    with whole.entered():
        (plan,) = make_plans(["imapb"], Options(scale="tiny", seeds=[1]))
        start = checkpoint.find(plan.keys.warm.name, plan.keys.warm.key)
        assert start is not None
        regions = {}
        for order in (DEFAULT, REFERENCE):
            measure_region(plan, start, order, 4_000_000, tmp_path / order.name)
            regions[order.name] = compute(RunFolder(tmp_path / order.name / "region").snapshots, None)
    default, reference = (regions[order.name]["slice_length.median"] for order in (DEFAULT, REFERENCE))
    assert default is not None and reference is not None
    assert reference <= 16 < 128 <= default
    values = read_values(tmp_path / REFERENCE.name)
    assert set(values) == set(NAMES | ATTRIBUTED)
    parts, whole_share = [values[part] or 0.0 for part in ATTRIBUTED], values[FROM_O]
    assert sum(parts) == pytest.approx(whole_share)
