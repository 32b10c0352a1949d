# SPDX-License-Identifier: GPL-2.0-or-later
"""Every number of a machine, experiment, scale and workload file: infinite and huge values are refused at once."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.lab import Lab

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.strict import Strict, find, parse_settings, resolve, validate
from s80lab.base.suggest import names
from s80lab.config.experiment import Experiment, Scale
from s80lab.config.machine import Machine, load_machine
from s80lab.config.workload import PROTOCOLS, load_workload
from s80lab.protocol.table import Protocol

Keys = tuple[str | int, ...]
HOSTILE = (float("inf"), float("-inf"), float("nan"), 2**63, 2**64, 2**20_000)
PROFILES = {
    "imap": "imapb",
    "pop3": "pop3",
    "web": "web",
    "jbb": "jbb",
    "rtp": "stream",
    "route": "route",
    "probe": "probe-copy",
    "scripts": "clientscaler",
}
FILES: list[tuple[type[Strict], Path]] = [
    (Machine, paths.MACHINES / "s80.toml"),
    (Experiment, paths.EXPERIMENTS / "imapb.toml"),
    (Scale, paths.SCALES / "small.toml"),
    (Protocol, paths.PROTOCOLS / "moesi.toml"),
    *((PROTOCOLS[protocol], find("workload", paths.PROFILES, name)) for protocol, name in PROFILES.items()),
]
# Tables that a machine has with a last-level cache and a bounded directory.
TABLES = {
    "llc": {"size": "24MiB", "ways": 12, "slices": 4},
    "directory": {"entries": 884736, "ways": 12, "slices": 18},
}


def numbers(schema: dict[str, Any], node: dict[str, Any], content: object, keys: Keys = ()) -> Iterator[Keys]:
    """The keys of all numbers in a JSON schema. Keys of free tables and lists are those of `content`, or `x` and 0."""
    if "$ref" in node:
        yield from numbers(schema, schema["$defs"][node["$ref"].rpartition("/")[2]], content, keys)
    if node.get("type") in ("integer", "number"):
        yield keys
    for choice in node.get("anyOf", ()):
        yield from numbers(schema, choice, content, keys)
    table = content if isinstance(content, dict) else {}
    for key, inner in node.get("properties", {}).items():
        yield from numbers(schema, inner, table.get(key), (*keys, key))
    for inner in (node.get("additionalProperties"), *node.get("patternProperties", {}).values()):
        if isinstance(inner, dict):
            key = next(iter(table), "x")
            yield from numbers(schema, inner, table.get(key), (*keys, key))
    if "items" in node:
        first = content[0] if isinstance(content, list) and content else None
        yield from numbers(schema, node["items"], first, (*keys, 0))


def put(content: Any, keys: Keys, value: object) -> Any:
    """The content with the value in place of the one under these keys."""
    if not keys:
        return value
    key, *rest = keys
    if isinstance(key, int):
        below = content if isinstance(content, list) and content else [None]
        return [put(below[0], tuple(rest), value), *below[1:]]
    return {**(content or {}), key: put((content or {}).get(key), tuple(rest), value)}


def test_profiles_of_all_protocols_are_tested() -> None:
    assert set(PROFILES) == set(PROTOCOLS)


@pytest.mark.parametrize(("model", "path"), FILES, ids=lambda value: getattr(value, "stem", ""))
def test_infinite_or_huge_number_is_refused_by_its_key(model: type[Strict], path: Path) -> None:
    content = tomllib.loads(path.read_text())
    if model is Machine:
        content |= {**TABLES, "latency": content["latency"] | {"llc": 40}}
    validate(content, model, path.name)
    schema = model.model_json_schema()
    tried = list(dict.fromkeys(numbers(schema, schema, content)))
    assert bool(tried) == (model is not Protocol), "a protocol has no numbers"
    accepted = []
    for keys in tried:
        for value in HOSTILE:
            try:
                validate(put(content, keys, value), model, path.name)
            except UserError as refused:
                text = str(refused)
                # A table that the file lacks may need other keys, and one of them is named first.
                other = () if keys[0] in content else (f"{path.name}: the key `{keys[0]}.",)
                assert (
                    text.startswith((f"{path.name}: key `{keys[0]}", *other)) and "\n" not in text and len(text) < 400
                ), text
                assert not any(words in text for words in ("Input should", "Value error", "Exceeds the limit")), text
            else:
                accepted.append((keys, value))
    assert accepted == []


@pytest.mark.parametrize("key", ["smt.issue_share", "clock.epoch_cycles", "clock.base_cpi", "processors.clock_hz"])
@pytest.mark.parametrize("value", ["inf", "nan", "9223372036854775808", "18446744073709551616"])
def test_set_of_an_infinite_or_huge_number_is_refused(key: str, value: str) -> None:
    with pytest.raises(UserError, match=f"^--set {key}={value}: key `{key}`: .*; write a "):
        load_machine("s80", parse_settings([f"{key}={value}"]))


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("clock.base_cpi", 0.005, "at least 0.01"),
        ("clock.base_cpi", 1e300, "at most 1000000.0"),
        ("clock.epoch_cycles", 4_999, "at least 5000"),
        ("clock.epoch_cycles", 50_001, "at most 50000"),
        ("processors.clock_hz", 0, "at least 1000"),
        ("processors.clock_hz", 10**12 + 1, "at most 1000000000000"),
        ("processors.threads_per_core", 33, "at most 32"),
        ("smt.issue_share", 1e-300, "at least 0.01"),
    ],
)
def test_number_that_the_plugin_or_the_guest_cannot_hold_is_refused(key: str, value: float, message: str) -> None:
    with pytest.raises(UserError, match=f"key `{key}`: .*write a number of {message}$"):
        load_machine("s80", {key: value})


def test_shipped_files_keep_their_numbers() -> None:
    for name in names(paths.MACHINES):
        load_machine(name)
    for name in names(paths.PROFILES):
        load_workload(name)


def test_sweep_of_huge_numbers_is_refused() -> None:
    content = tomllib.loads((paths.EXPERIMENTS / "imapb.toml").read_text())
    experiment = resolve(content, Experiment, "imapb.toml", {"sweep": {"clients": [2**62]}})
    with pytest.raises(UserError, match=r"key `clients`: .* write a number of at most 1048576"):
        experiment.at_point({"clients": str(2**62)})


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("clock.base_cpi=inf", "--set clock.base_cpi=inf: key `clock.base_cpi`: `Infinity` is not allowed; write"),
        (
            "clock.epoch_cycles=inf",
            "--set clock.epoch_cycles=inf: key `clock.epoch_cycles`: `Infinity` is not allowed; ",
        ),
        ("processors.clock_hz=9223372036854775808", "key `processors.clock_hz`: the number has more than 64 bits"),
        ("processors.clock_hz=4611686018427387904", "is not allowed; write a number of at most 1000000000000"),
        ("l2.size=" + "9" * 5000, "a number has thousands of digits; write a smaller number"),
        ("l2.size=" + "[" * 20_000, "nested more than 32 levels deep"),
    ],
)
def test_run_with_an_infinite_or_huge_number_ends_before_a_boot(tmp_path: Path, setting: str, message: str) -> None:
    lab = Lab(tmp_path / "checkpoints", tmp_path / "results")
    printed = lab.run_tiny("imapb", "--seeds", "1", "--set", setting, code=2)
    assert printed.startswith("s80lab: ") and message in printed and printed.count("\n") == 1
