# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks a Murphi model: rumur translates it to a C program, which visits all reachable states, breadth first."""

from __future__ import annotations

import platform
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from s80lab.base.errors import UserError
from s80lab.base.staging import scratch

# One thread: breadth first, so the first counterexample is a shortest one, and the same one every time.
GENERATE = [
    "--output-format=machine-readable",
    "--counterexample-trace=full",
    "--threads=1",
    "--deadlock-detection=off",
    "--symmetry-reduction=off",
]
# The models are small: compiling takes longer than checking.
COMPILE = ["-std=c11", "-O0", "-w", "-pthread"]
LINK = ["-latomic"]


@dataclass(frozen=True)
class Step:
    """One rule of a counterexample: its parameters, and all variables after it."""

    rule: str
    parameters: dict[str, str]
    variables: dict[str, str]


@dataclass(frozen=True)
class Exploration:
    """The checker's result. `error` and `steps` (from the initial state) are set if a state or rule is faulty."""

    states: int
    rules_fired: int
    covered: dict[str, int]
    error: str | None
    steps: list[Step]


def explore(model: str, stage: Callable[[str], None]) -> Exploration:
    """Checks a Murphi model. `stage` receives progress texts. UserError if a tool is missing or fails."""
    rumur = _tool("rumur", "install the Debian package rumur (`make setup` does)")
    compiler = _tool("cc", "install the Debian package gcc (`make setup` does)")
    with scratch() as folder:
        (folder / "model.m").write_text(model, encoding="utf-8")
        stage("generating")
        run([rumur, *GENERATE, "--output", "model.c", "model.m"], folder)
        stage("compiling")
        run([compiler, *COMPILE, *_machine_flags(), "model.c", "-o", "model", *LINK], folder)
        stage("exploring")
        return parse(run(["./model"], folder, codes=(0, 1)))


def parse(output: str) -> Exploration:
    """Parses the checker's XML. The checker reports an unreached cover as an error; this function does not."""
    try:
        root = ElementTree.fromstring(output)
    except ElementTree.ParseError as error:
        raise UserError(
            f"the output of the protocol checker (rumur) is not XML ({error}); the output begins with {output[:200]!r}"
        ) from None
    summary = root.find("summary")
    failure = root.find("error")
    if summary is None:
        raise UserError(
            "the protocol checker ended without a summary, probably because memory was insufficient; use fewer --caches"
        )
    return Exploration(
        states=int(summary.attrib["states"]),
        rules_fired=int(summary.attrib["rules_fired"]),
        covered={one.attrib["message"]: int(one.attrib["count"]) for one in root.iter("cover_result")},
        error=None if failure is None else _message(failure),
        steps=[] if failure is None else _steps(failure),
    )


def _message(failure: ElementTree.Element) -> str:
    """The name in `invariant "NAME" failed`, or the text of an error statement."""
    text = failure.findtext("message", "")
    return text.split('"')[1] if text.startswith("invariant") else text


def _steps(failure: ElementTree.Element) -> list[Step]:
    steps = []
    for transition, state in zip(failure.iter("transition"), failure.iter("state"), strict=True):
        rule = (transition.text or "").split('"')[1]
        parameters = {one.attrib["name"]: one.text or "" for one in transition.iter("parameter")}
        variables = {one.attrib["name"]: one.attrib["value"] for one in state.iter("state_component")}
        steps.append(Step(rule, parameters, variables))
    return steps


def _tool(name: str, remedy: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise UserError(f"{name}, which proves protocols, is not on PATH: {remedy}")
    return found


def _machine_flags() -> list[str]:
    """rumur's programs use a 16-byte compare-and-swap, which x86-64 compilers enable by an option."""
    return ["-mcx16"] if platform.machine() == "x86_64" else []


def run(command: list[str], folder: Path, codes: tuple[int, ...] = (0,)) -> str:
    """Runs a command and returns its output. UserError if it cannot be started or ends with another code."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    except OSError as error:
        reason = f"{command[0]} in {folder} cannot be started ({error.strerror})"
        raise UserError(
            f"{reason}; set TMPDIR to a folder on a file system that allows the execution of programs"
        ) from None
    if done.returncode not in codes:
        complaints = (done.stderr or done.stdout).strip().splitlines()
        raise UserError(
            f"{Path(command[0]).name} failed ({done.returncode}): {complaints[0] if complaints else 'no output'}"
        )
    return done.stdout
