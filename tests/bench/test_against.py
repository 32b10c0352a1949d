# SPDX-License-Identifier: GPL-2.0-or-later
"""The interval of `make bench BASE=COMMIT`, and a commit that does not exist."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.bench.against import NEW_NAMES, compare, extract, interval, use_new_names

from s80lab.base import paths
from s80lab.base.errors import UserError


@pytest.mark.parametrize(
    ("count", "lowest"),
    # From a table of the binomial distribution with one half: 97.9% and 95.9% of intervals contain the median.
    [(10, 2), (20, 6)],
)
def test_interval_runs_from_a_low_ratio_to_its_mirror_image(count: int, lowest: int) -> None:
    assert interval([float(n) for n in range(count, 0, -1)]) == (lowest, count + 1 - lowest)


def test_sides_alternate_in_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    order: list[str] = []

    def side(name: str, speed: float) -> float:
        order.append(name)
        return speed

    compare("replay", 3, lambda: side("base", 2), lambda: side("head", 3))
    assert "".join(name[0] for name in order) == "bhhbbh"
    assert capsys.readouterr().out.startswith("replay: 1.500 of the base's speed (1.500 to 1.500, 3 pairs)")


def test_unknown_commit_is_refused_and_keeps_the_folder(tmp_path: Path) -> None:
    (tmp_path / "kept").touch()
    with pytest.raises(UserError, match="BASE=nothing is not a commit of this repository"):
        extract("nothing", tmp_path)
    assert (tmp_path / "kept").exists()


def test_base_before_schema_2_gets_the_words_of_todays_sources(tmp_path: Path) -> None:
    """Turn today's sources back: the new names must stand in them once, or the compiled base would keep an old one."""
    for name, texts in NEW_NAMES.items():
        content = today = (paths.ROOT / name).read_text()
        for old, new in texts.items():
            assert content.count(new) == 1
            content = content.replace(new, old)
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
        assert content != today
    use_new_names(tmp_path)
    for name in NEW_NAMES:
        assert (tmp_path / name).read_text() == (paths.ROOT / name).read_text()
