# SPDX-License-Identifier: GPL-2.0-or-later
"""Every instruction of accesses.txt, executed by QEMU: which accesses QEMU reports, and what the decoder says.

A line of accesses.txt holds what comes before the opcode (alternatives, `-`: nothing), the opcode (alternatives), what
comes behind it (alternatives), the access that QEMU reports, and the bytes of the largest access, at least 8. To add an
instruction, add a line: the first test names the access that QEMU reports.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import pytest
from tests.experiment.short_region import short_region
from tests.lab import Lab

from s80lab.base import paths
from s80lab.commands.pipeline import make_plans
from s80lab.config.machine import load_machine
from s80lab.experiment import checkpoint
from s80lab.experiment.plan import Options
from s80lab.guest.qemu import find_qemu

pytestmark = pytest.mark.guest

RECORDED = Path(__file__).with_name("accesses.txt")
KERNEL = paths.BUILD / "bin" / "accesses_kernel"
PLUGIN = paths.LIB / "libs80accesses.so"

ZEROS = bytes(16)
LONGEST = 15  # bytes of an instruction
# ModRM bytes with each value of the field reg: with memory at RDI, and with the register DI. What they are called in
# accesses.txt.
SHORT = {
    name: ",".join(bytes([mod | reg << 3 | 7]).hex() for reg in range(8))
    for name, mod in (("MEMORY", 0x00), ("REGISTER", 0xC0))
}


@dataclass(frozen=True)
class Encoding:
    """An instruction. lead: the bytes before the opcode. tail: the bytes behind it."""

    lead: bytes
    opcode: int
    tail: bytes

    @property
    def code(self) -> bytes:
        """The bytes of the instruction, and zeros behind them."""
        return (self.lead + bytes([self.opcode]) + self.tail).ljust(16, b"\0")


@dataclass(frozen=True)
class Report:
    """Of one instruction: what QEMU reported, and what the decoder says."""

    completed: bool
    access: str
    largest: int
    decoded: str
    access_bytes: int
    callbacks: bool

    @classmethod
    def parse(cls, line: str) -> tuple[bytes, Report]:
        code, completed, loads, stores, largest, decoded, size, callbacks = line.split()
        access = {(0, 0): "other", (1, 0): "load", (0, 1): "store", (1, 1): "load_store"}[loads != "0", stores != "0"]
        numbers = int(largest), decoded, int(size)
        return bytes.fromhex(code), cls(completed == "1", access, *numbers, callbacks == "1")


def pattern(one: Encoding, image: bytes) -> bytes:
    """What fills the memory that the instruction accesses, so that the instruction completes. image: the kernel."""
    reg = one.tail[0] >> 3 & 7
    match one.lead[-1:].hex(), one.opcode, reg:
        case "0f", 0x00, 3:  # the selector of the task
            return b"\x28\0" * 8
        case "0f", 0x00, 4 | 5:  # the selector of the data segment
            return b"\x10\0" * 8
        case "0f", 0x02 | 0x03, _:
            return b"\x10\0" * 8
        case "0f", 0x01, 2 | 3:  # LGDT, LIDT: the kernel's own
            return image[32 + (reg - 2) * 10 :][:10].ljust(16, b"\0")
        case "0f", _, _:
            return ZEROS
        case _, 0x9D, _:  # POPF: the trap flag stays set
            return (0x102).to_bytes(8, "little") * 2
        case _, 0xF6 | 0xF7, 6 | 7:  # divisors
            return b"\1" * 16
        case _:
            return ZEROS


def recorded() -> Iterator[tuple[Encoding, str, int]]:
    """Each instruction of accesses.txt, its access, and the bytes of the largest access."""
    for line in RECORDED.read_text().splitlines():
        if not line.startswith("#"):
            before, opcodes, behind, access, size = line.split()
            for name, operands in SHORT.items():
                behind = behind.replace(name, operands)
            for lead, opcode, tail in product(before.split(","), opcodes.split(","), behind.split(",")):
                one = Encoding(bytes.fromhex(lead.strip("-")), int(opcode, 16), bytes.fromhex(tail))
                yield one, access, int(size)


def execute(cpu: str, folder: Path) -> dict[str, Report]:
    """What QEMU reports of the instructions that this processor implements, by their bytes."""
    qemu, image = find_qemu(), KERNEL.read_bytes()
    module, out = folder / "module", folder / "accesses"
    every = [one for one, _, _ in recorded()]
    module.write_bytes(b"".join(one.code + pattern(one, image) for one in every))
    command = [*qemu.command(), "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]
    command += ["-accel", "tcg", "-cpu", cpu, "-m", "64", "-kernel", str(KERNEL), "-initrd", str(module)]
    command += ["-plugin", f"{PLUGIN},out={out}"]
    subprocess.run(command, env=qemu.environment(), check=True, stdin=subprocess.DEVNULL)
    reports = dict(Report.parse(line) for line in out.read_text().splitlines())
    found = {}
    for one in every:
        # Of an instruction that the processor does not implement, QEMU may report the first bytes alone.
        sizes = (size for size in range(LONGEST, 0, -1) if one.code[:size] in reports)
        report = reports[one.code[: next(sizes)]]
        if report.completed:
            found[one.code.hex()] = report
    return found


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Report]:
    """Of a processor with everything that QEMU implements."""
    return execute("max", tmp_path_factory.mktemp("accesses"))


def test_recorded_accesses_are_those_that_qemu_reports(reports: dict[str, Report]) -> None:
    expected = {one.code.hex(): (access, size) for one, access, size in recorded()}
    assert len(expected) > 70_000
    reported = {code: (report.access, max(8, report.largest)) for code, report in reports.items()}
    assert {code: reported.get(code) for code, wanted in expected.items() if reported.get(code) != wanted} == {}


def check_decoder(reports: Mapping[str, Report]) -> None:
    """reports: of the instructions by their bytes. A branch counts as a branch, whatever it accesses."""
    wrong = {
        code: report
        for code, report in reports.items()
        if (report.access != report.decoded and not report.decoded.startswith("branch"))
        or report.access_bytes < report.largest
        or (report.access != "other" and not report.callbacks)
    }
    assert not wrong


def test_decoder_agrees_with_qemu_on_every_instruction(reports: dict[str, Report]) -> None:
    assert {report.access for report in reports.values()} == {"load", "store", "load_store", "other"}
    check_decoder(reports)


def test_decoder_agrees_with_qemu_on_processor_of_machine(tmp_path: Path, reports: dict[str, Report]) -> None:
    """Other processors than that of `max` take some encodings for other instructions (TZCNT for BSF)."""
    found = execute(load_machine("s80", {}).guest.cpu, tmp_path)
    assert 0 < len(found) < len(reports)
    check_decoder(found)


def test_decoder_agrees_with_qemu_in_mail_server(whole: Lab, tmp_path: Path) -> None:
    """In the measured region: before it, the load generator reads ports, and QEMU the I/O permission bitmap."""
    out, wrapper = tmp_path / "accesses", tmp_path / "qemu"
    with whole.entered():
        (plan,) = make_plans(["imapb"], Options(scale="tiny", seeds=[1]))
        warm = checkpoint.find(plan.keys.warm.name, plan.keys.warm.key)
        assert warm is not None
        wrapper.write_text(f'#!/bin/sh\nexec "{plan.qemu.binary}" "$@" -plugin "{PLUGIN},out={out}"\n')
        wrapper.chmod(0o755)
        recording = replace(plan, qemu=replace(plan.qemu, binary=wrapper))
        short_region(recording, warm, tmp_path / "run", measure=120_000_000, interval=20_000_000)
    reports = {code.hex(): report for code, report in map(Report.parse, out.read_text().splitlines())}
    assert len(reports) > 10_000
    check_decoder(reports)
