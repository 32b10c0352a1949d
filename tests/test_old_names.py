# SPDX-License-Identifier: GPL-2.0-or-later
"""Names that were replaced stand only where old files are read, and where readers look old names up."""

from __future__ import annotations

import re
import subprocess

import pytest

from s80lab.base import paths

OLD_NAMES = {
    # C++
    r"\b(?:model::)?Window\b": "src/",
    r"\bPlayer\b": "src/",
    r"\bLane\b": "src/",
    r"\bParty\b": "src/",
    r"\bHolders\b": "src/",
    r"\bTurns\b": "src/",
    r"\bturn_end\b": "src/",
    # Keys of files, columns and verdicts
    r"\bmodelled_(?:ns|s)\b": "",
    r"\bidentities\b\"": "",
    r"\bnot a result\"|'not a result'|invalid \(not a result\)": "",
    r"\"not warm\"|'not warm'|`not warm`": "",
    r"^window = |phases\.window\b|\"windows?\":|\[\"windows\"\]": "",
    r"\bstats_window\b|\bv_windows\b": "",
    r"manifest\[\"mix\"\]": "",
    # Functions and modules of the package
    r"\bdef _?(?:said|told|of|at|shown|draft|parts)\(": "scripts/s80lab/",
    r"(?<![\w.])_?shown\(": "scripts/s80lab/",
    r"\b(?:said|told|of)(?:: [\w\[\], .]+)? = |\bfor (?:\w+, )*(?:said|told|of)(?:, \w+)* in ": "scripts/s80lab/",
    r"commands[./]parts\b": "",
    r"(?:^|[\w>*&] )(?:said|told|of|at|shown)\([\w: <>&*,\[\]]*\)(?: const)? (?:\{|=)": "src/",
    r"\bEdge::of\b": "",
    r"\bIdentityBroken\b|\b(?:HOME_)?IDENTITIES\b|\bclass Identity\b": "",
}
"""Pattern of an old name, with the folder in which it means what was renamed."""

ALLOWED = {
    "CHANGELOG.md",
    "docs/reference/glossary.md",
    "docs/guides/troubleshooting.md",
    "scripts/s80lab/base/renamed.py",
    "tests/commands/test_renamed.py",
    "tests/test_old_names.py",
}


def tracked() -> dict[str, list[str]]:
    """The lines of all tracked text files that people write."""
    names = subprocess.run(["git", "ls-files"], cwd=paths.ROOT, capture_output=True, text=True, check=True).stdout
    found = {}
    for name in names.splitlines():
        if name in ALLOWED or name.endswith((".xz", ".gz", ".png", ".svg", ".lock")):
            continue
        if (path := paths.ROOT / name).is_file():
            found[name] = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return found


TRACKED = tracked()


@pytest.mark.parametrize("pattern", OLD_NAMES)
def test_old_name_is_found_in_no_file(pattern: str) -> None:
    within, old = OLD_NAMES[pattern], re.compile(pattern)
    hits = [
        f"{name}:{number}: {line.strip()[:80]}"
        for name, lines in TRACKED.items()
        if name.startswith(within)
        for number, line in enumerate(lines, 1)
        if old.search(line)
    ]
    assert not hits, "\n".join(hits)
