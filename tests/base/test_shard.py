# SPDX-License-Identifier: GPL-2.0-or-later
"""Shards: every item in one of them, whatever order it was named in."""

from __future__ import annotations

import itertools

import pytest

from s80lab.base.errors import UserError
from s80lab.base.shard import Shard, by_hash, parse_shard


@pytest.mark.parametrize("of", [1, 2, 7, 10, 11, 40])
def test_shards_are_even_and_hold_each_item_once(of: int) -> None:
    items = list(range(10))
    parts = [Shard(number, of).take(items) for number in range(1, of + 1)]
    assert sorted(itertools.chain(*parts)) == items
    lengths = [len(part) for part in parts]
    assert max(lengths) - min(lengths) <= 1


def test_shard_order_is_that_of_the_hashes() -> None:
    hashes = {"a": "3", "b": "1", "c": "2", "d": "1"}
    found = by_hash(["a", "b", "c", "d"], hashes.__getitem__)
    assert list(found.items()) == [("1", "b"), ("2", "c"), ("3", "a")]
    assert list(by_hash(["c", "b", "a"], hashes.__getitem__)) == ["1", "2", "3"]


@pytest.mark.parametrize("text", ["1/1", "3/10", "10/10"])
def test_shard_is_parsed_as_written(text: str) -> None:
    assert str(parse_shard(text)) == text


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("0/10", "--shard 0/10: there is no shard 0 of 10: write 1/10 to 10/10"),
        ("11/10", "--shard 11/10: there is no shard 11 of 10"),
        ("0/0", "there is no shard 0 of 0"),
        ("3", "--shard 3: is not a shard: write I/N, for example 1/10"),
        ("1/2/3", "write I/N"),
        ("-1/4", "write I/N"),
        ("a/4", "write I/N"),
        ("1/" + "9" * 5000, "write I/N"),
    ],
)
def test_malformed_shard_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_shard(text)
    assert sentence in str(caught.value)
