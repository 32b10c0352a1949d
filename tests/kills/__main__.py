# SPDX-License-Identifier: GPL-2.0-or-later
"""The kill harness: `python -m tests.kills --kills run=60,explore=200,collect=160,checkpoint=100 --seed 1`.

It kills s80lab commands at random moments, and checks that nothing is lost and that the repeated command gives the same
bytes. docs/guides/clusters.md describes the checks. The exit code is 1 if a check fails.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.kills.campaign import Campaign, read_totals, write_totals
from tests.kills.material import Material
from tests.kills.scenarios import scenarios
from tests.lab import Lab

from s80lab.base import paths
from s80lab.base.staging import held
from s80lab.base.version import __version__

COMMANDS = ("run", "explore", "collect", "checkpoint")


def parse_kills(text: str) -> dict[str, int]:
    """Kills by command. ValueError if the text is not of the form `run=60,collect=160`."""
    found = {}
    for part in text.split(","):
        command, _, number = part.partition("=")
        if command not in COMMANDS or not number.isdecimal() or not int(number):
            raise ValueError(f"{part}: write COMMAND=NUMBER; the commands are {', '.join(COMMANDS)}")
        found[command] = int(number)
    return found


def main(arguments: list[str]) -> int:
    """Returns the exit code: the number of violations of this call, at most 1."""
    parser = argparse.ArgumentParser(prog="python -m tests.kills", description="Kill s80lab at random moments.")
    parser.add_argument("--kills", default="run=6,explore=20,collect=16,checkpoint=20", help="kills by command")
    parser.add_argument("--seed", type=int, default=1, help="of all random draws")
    parser.add_argument("--first-round", type=int, default=1, help="number of the first round of each command")
    parser.add_argument(
        "--folder", type=Path, default=paths.BUILD / "kills", help="labs of the harness; checkpoints are kept in it"
    )
    parser.add_argument("--lab", type=Path, help="lab whose checkpoints and captures are used (default: FOLDER/lab)")
    parser.add_argument("--totals", type=Path, help="file of the totals of all calls (default: FOLDER/totals.json)")
    parser.add_argument("--drawn", action="store_true", help="use a drawn capture and checkpoint; boots no guest")
    given = parser.parse_args(arguments)
    try:
        kills = parse_kills(given.kills)
    except ValueError as error:
        parser.error(f"--kills {error}")
    if given.drawn and "run" in kills:
        parser.error("--drawn boots no guest, so `run` cannot be killed; leave `run` out of --kills")
    folder = given.folder.absolute()
    path = given.totals or folder / "totals.json"
    own = folder / ("drawn" if given.drawn else "lab")
    source = given.lab.absolute() if given.lab else own
    material = Material(Lab(source / "checkpoints", own / "results"), given.drawn)
    options = (
        f" --folder {given.folder}" + (" --drawn" if given.drawn else "") + (f" --lab {given.lab}" if given.lab else "")
    )
    with held(folder / ".lock", lambda: print(f"waiting for another kill harness in {folder}")):
        campaign = Campaign(folder, read_totals(path), path, given.seed, lambda text: print(text, flush=True), options)
        call: dict[str, object] = {
            "seed": given.seed,
            "version": __version__,
            "began": time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime()),
        }
        campaign.totals.calls.append(call)
        for command, number in kills.items():
            before, began = campaign.totals.count(command), time.monotonic()
            turns = scenarios(command, material, campaign.lab)
            made = time.monotonic()
            try:
                campaign.kill(command, turns, number, given.first_round)
            finally:
                done, seconds = campaign.totals.count(command) - before, time.monotonic() - made
                call[command] = {"kills": done, "seconds": round(seconds), "material_s": round(made - began)}
                write_totals(campaign.totals, path)
            print(f"{command}: {done} kills in {seconds:.0f} s ({60 * done / seconds:.1f} per minute)", flush=True)
    everything = sum(map(campaign.totals.count, COMMANDS))
    print(f"violations: {campaign.found}; kills of all calls: {everything}, in {path}")
    return min(campaign.found, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
