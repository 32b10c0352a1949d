# SPDX-License-Identifier: GPL-2.0-or-later
"""Degenerate trace files through every command that takes them: each ends with a result or with one sentence."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path

import pytest
from tests.capture.conftest import small_machine
from tests.lab import Lab

from s80lab.trace import order, tool
from s80lab.trace.formats.gem5 import GEM5, MAGIC
from s80lab.trace.order import Op

HEADER = MAGIC + b"\x0f\x0a\x06s80lab\x18\x80\xa0\x94\xa5\x8d\x1d"
HUGE_PACKET = b"\x0d\x08\x01\x10\x01\x18\x00\x20\x80\x80\x80\x80\x80\x40"
"""Tick 1, ReadReq, address 0, 2^41 bytes."""

EMPTY = {
    "empty.din": b"",
    "empty.trace": b"",
    "comment.trace": b"# a title only\n",
    "empty.order": b"",
    "empty.champsimtrace": b"",
    "zeros.champsimtrace": bytes(8) + b"\1" + bytes(55),
    "header.trc": HEADER,
    "empty.din.xz": lzma.compress(b""),
    "empty.din.gz": gzip.compress(b""),
}
ACCEPTED = {
    "one.din": b"0 100\n",
    "no-newline.din": b"0 100\n1 200",
    "bom.din": b"\xef\xbb\xbf0 100\n",
    "one.din.gz": gzip.compress(b"2 0"),
    "one.trace": b"0 load 0x100\n",
    "bom.trace": b"\xef\xbb\xbf# machine: classroom\n0 load 0x100\n",
    "idle.trace": b"0 load 0x100\n2 store 0x100",
    "markup.trace": b"# [red] [/] \x1b]0;title\x07\n0 load 0x10 # a[i] and b[red] [/] \x1b[2J\n",
    "foreign.trace": b"# \xff\xfe\n0 load 0x100 # \xf0\x28\n",
    "one.order": order.make(0, Op.STORE, [1]).tobytes(),
    "walk.order": order.make([0, 3], [Op.WALK, Op.STORE], [1, 1]).tobytes(),
    "one.trc": GEM5.encode(order.make(0, Op.LOAD, [1]), 64),
    "one": GEM5.encode(order.make(0, Op.LOAD, [1]), 64),
    "one.champsimtrace": b"\x40" + bytes(63),
}
REFUSED = {
    "flush.din": (b"0 100\n4 0\n", "line 2: the label `4` means a flush of the cache in Dinero"),
    "escape.din": (b"3 0\n", "line 1: the label `3` means an access of unknown kind in Dinero"),
    "lackey.trace": (b" L 10,1\n", "line 1: `L 10,1` has the form of Valgrind's tool lackey"),
    "utf16.trace": ("0 load 0x10\n".encode("utf-16"), "the file has the encoding UTF-16"),
    "fetch.trace": (b"0 fetch 0x10\n", "did you mean ifetch?"),
    "superscript.trace": ("² load 0x10\n".encode(), "the processor `²` is not a number from 0 to 255"),
    "long-core.trace": (b"1" * 5000 + b" load 0x10\n", "is not a number from 0 to 255"),
    "long-address.trace": (b"0 load " + b"1" * 5000, "is not a number of at most 64 bits"),
    "long-hexadecimal.trace": (b"0 load 0x" + b"1" * 5000, "is not a number of at most 64 bits"),
    "nul.trace": (b"\0" * 1000, r"line 1: `\x00\x00"),
    "nul.din": (b"\0" * 1000, r"line 1: unknown label `\x00\x00"),
    "escape-sequence.trace": (b"0 \x1b[2J 0x10\n", r"`\x1b[2J` is not an operation"),
    "damaged.din.gz": (gzip.compress(b"0 100\n" * 100)[:12] + b"\xff" * 40, "cannot be decompressed"),
    "damaged.din.xz": (lzma.compress(b"0 100\n" * 100)[:40], "cannot be decompressed"),
    "huge-packet.trc": (HEADER + HUGE_PACKET, "access 0 has a size of 2199023255552 bytes"),
    "locked.trc": (GEM5.encode(order.make(0, Op.LOAD, [1]), 64).replace(b"\x10\x01", b"\x10\x1e"), "LockedRMWReadReq"),
    "exclusive.trc": (GEM5.encode(order.make(0, Op.LOAD, [1]), 64).replace(b"\x10\x01", b"\x10\x16"), "ReadExReq (22)"),
    "short.order": (b"\0" * 15, "not a multiple of 16-byte records"),
}


def form_of(name: str) -> str:
    suffixes = {".trace": "text", ".order": "order", ".din": "din", ".trc": "gem5", ".champsimtrace": "champsim"}
    return next((form for suffix, form in suffixes.items() if suffix in name), "gem5")


def tell(lab: Lab, *words: str) -> str:
    """What a command prints that ends well, or with one sentence: never a traceback, never an escape sequence."""
    for code in (0, 2):
        try:
            said = lab.call(*words, code=code)
        except AssertionError as other:
            failure = other
            continue
        assert "Traceback" not in said and "\x1b" not in said and "\x07" not in said, said
        assert code == 0 or (said.startswith("s80lab: ") and said.count("\n") == 1 and len(said) < 1000), said
        return said
    raise failure


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path / "checkpoints", tmp_path / "results")


def play(lab: Lab, capture: Path) -> None:
    """Replay, explore, step and convert a capture."""
    said = lab.call("replay", str(capture))
    assert "report: " in said and "\x1b" not in said
    assert "report: " in lab.call("explore", str(capture), "--vary", "protocol=moesi,msi")
    for words in (["info"], ["step"], ["export", "--format", "text", "--out", str(capture.with_suffix(".out"))]):
        lab.call("trace", *words[:1], str(capture), *words[1:])
    tell(lab, "filter-error", str(capture), "--vary", "protocol=msi,moesi", "--out", str(capture.with_suffix(".json")))


@pytest.mark.parametrize("name", ACCEPTED)
def test_commands_accepted_degenerate_trace_has_a_result(lab: Lab, tmp_path: Path, name: str) -> None:
    path, capture = tmp_path / name, tmp_path / "imported.s80c"
    path.write_bytes(ACCEPTED[name])
    form = form_of(name)
    assert " access" in lab.call("trace", "info", str(path))
    lab.call("trace", "import", str(path), "--format", form, "--out", str(capture))
    play(lab, capture)
    if form in ("text", "order"):
        assert "\x1b" not in lab.call("trace", "step", str(path), "--html", str(tmp_path / "page.html"))
        for out in ("text", "order", "gem5", "champsim", "din"):
            lab.call("trace", "export", str(path), "--format", out, "--out", str(tmp_path / f"exported-{out}"))
    tell(lab, "agree", str(path), "--gem5", str(tmp_path / "no-gem5"))


@pytest.mark.parametrize("name", EMPTY)
def test_commands_trace_without_access_is_refused(lab: Lab, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(EMPTY[name])
    assert "0 accesses" in lab.call("trace", "info", str(path))
    commands = [["trace", "import", str(path), "--format", form_of(name), "--out", str(tmp_path / "x.s80c")]]
    if form_of(name) in ("text", "order"):
        commands += [["trace", "step", str(path)]]
        commands += [["trace", "export", str(path), "--format", "din", "--out", str(tmp_path / "out")]]
    for words in commands:
        assert f"{path}: the trace contains no access" in lab.call(*words, code=2)
    assert not (tmp_path / "x.s80c").exists() and not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", REFUSED)
def test_commands_malformed_trace_is_refused_with_the_reason(lab: Lab, tmp_path: Path, name: str) -> None:
    path, out = tmp_path / name, str(tmp_path / "x.s80c")
    content, sentence = REFUSED[name]
    path.write_bytes(content)
    for words in (["info", str(path)], ["import", str(path), "--format", form_of(name), "--out", out]):
        assert sentence in (said := lab.call("trace", *words, code=2))
        assert said.startswith("s80lab: ") and said.count("\n") == 1 and len(said) < 600 and said[:-1].isprintable()


def test_replay_capture_without_access_is_refused(lab: Lab, tmp_path: Path) -> None:
    """As older versions of s80lab imported them."""
    capture = tmp_path / "empty.s80c"
    tool.to_capture(order.make(0, Op.LOAD, []), small_machine(), capture, lines=1, protocol="moesi", origin="{}")
    for words in (["replay"], ["explore", "--vary", "protocol=msi,moesi"], ["trace", "step"]):
        position = 2 if words[0] == "trace" else 1
        said = lab.call(*words[:position], str(capture), *words[position:], code=2)
        assert "contains no access" in said and said.count("\n") == 1
    assert "0 accesses" in lab.call("trace", "info", str(capture))
