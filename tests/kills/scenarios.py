# SPDX-License-Identifier: GPL-2.0-or-later
"""What is killed: commands, and the state of the lab before each of them."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.kills.material import HOSTS, RUN, Material, link
from tests.lab import Lab

COPIES = 3


@dataclass(frozen=True)
class Scenario:
    """A command and the state before it.

    command: the name under which the totals count its kills.
    name: what distinguishes this scenario from the others of the command.
    words: the whole command line.
    prepare: puts the state before the command into an empty lab.
    exact: whether an undisturbed command gives the same bytes each time.
    repeatable: whether the command succeeds if its result exists.
    """

    command: str
    name: str
    words: tuple[str, ...]
    prepare: Callable[[Lab], None]
    exact: bool = True
    repeatable: bool = True


def s80lab(*arguments: str) -> tuple[str, ...]:
    """The command line of s80lab."""
    return (sys.executable, "-m", "s80lab", *arguments)


def exports_of(lab: Lab) -> Path:
    """The folder to which the lab's checkpoints are exported."""
    return lab.results.parent / "exports"


def scenarios(command: str, material: Material, lab: Lab) -> list[Scenario]:
    """The scenarios of a command, which take turns. Makes their material. lab: the lab of the rounds."""
    return {"run": _run, "explore": _explore, "collect": _collect, "checkpoint": _checkpoint}[command](material, lab)


def _run(material: Material, lab: Lab) -> list[Scenario]:
    material.make_run()
    all_ready, its_warm = material.ready(), material.warm()

    def ready(lab: Lab) -> None:
        for name in all_ready:
            _link_entry(material.lab.checkpoints, name, lab.checkpoints)

    def warm(lab: Lab) -> None:
        ready(lab)
        _link_entry(material.lab.checkpoints, its_warm, lab.checkpoints)

    def measured(lab: Lab) -> None:
        warm(lab)
        shutil.copytree(material.lab.results, lab.results)

    from_warm = Scenario("run", "from the warm checkpoint", s80lab(*RUN), warm)
    return [
        from_warm,
        Scenario("run", "again", s80lab(*RUN, "--again"), measured),
        from_warm,
        # At which instruction a warm-up ends depends on the speed of the host.
        Scenario("run", "from the ready checkpoint", s80lab(*RUN), ready, exact=False),
    ]


def _explore(material: Material, lab: Lab) -> list[Scenario]:
    material.make_explored()
    name = material.capture()

    def nothing(lab: Lab) -> None:
        _link_entry(material.lab.captures, name, lab.captures)

    def everything(lab: Lab) -> None:
        nothing(lab)
        shutil.copytree(material.lab.results, lab.results)

    def half(lab: Lab) -> None:
        everything(lab)
        for folder in lab.runs()[::2]:
            shutil.rmtree(folder)
        (lab.results / "s80lab.sqlite").unlink()
        lab.call("collect")

    words = s80lab("explore", name, *material.grid)
    return [
        Scenario("explore", "from nothing", words, nothing),
        Scenario("explore", "half of the designs exist", words, half),
        Scenario("explore", "again", (*words, "--again"), everything),
    ]


def _collect(material: Material, lab: Lab) -> list[Scenario]:
    material.make_hosts()
    hosts = [str(material.host(name)) for name in HOSTS]

    def nothing(lab: Lab) -> None:
        pass

    def first(lab: Lab) -> None:
        lab.call("collect", hosts[0])

    words = s80lab("collect", *hosts)
    return [
        Scenario("collect", "into an empty lab", words, nothing),
        Scenario("collect", "the runs of one host exist", words, first),
    ]


def _checkpoint(material: Material, lab: Lab) -> list[Scenario]:
    material.make_exports()
    name, root = material.ready()[0], material.lab.checkpoints

    def nothing(lab: Lab) -> None:
        pass

    def ready(lab: Lab) -> None:
        _link_entry(root, name, lab.checkpoints)

    def copies(lab: Lab) -> None:
        ready(lab)
        for number in range(COPIES):
            _link_entry(root, name, lab.checkpoints, f"{name[:-8]}{number:08x}")

    def export(target: Path) -> tuple[str, ...]:
        return s80lab("checkpoint", "export", name, str(target))

    def take_in(source: Path) -> tuple[str, ...]:
        return s80lab("checkpoint", "import", str(source))

    exports = exports_of(lab)
    return [
        Scenario("checkpoint", "export to a tar file", export(exports / "a.tar"), ready, repeatable=False),
        Scenario("checkpoint", "import of a tar file", take_in(material.exports / "ready.tar"), nothing),
        Scenario("checkpoint", "export to a folder", export(exports), ready, repeatable=False),
        Scenario("checkpoint", "import of a folder", take_in(material.exports / name), nothing),
        Scenario("checkpoint", "prune", s80lab("checkpoint", "prune", "--yes", "--keep", name), copies),
    ]


def _link_entry(source: Path, name: str, target: Path, copy: str = "") -> None:
    """An entry of one store in another one. copy: its name there."""
    link(source / name, target / (copy or name))
    manifest = json.loads((source / f"{name}.json").read_text())
    (target / f"{copy or name}.json").write_text(json.dumps(manifest | {"name": copy or name}, indent=2) + "\n")
