# SPDX-License-Identifier: GPL-2.0-or-later
"""Check pages in a headless Chromium: `python -m tests.axe [FILE...]`, or `make axe`.

At 1200 and at 400 pixels, the check reports serious and critical findings of axe-core, a page that is wider than the
window, and text smaller than 11 pixels. Without FILE, one page of each kind is made and checked. Screenshots are
written to build/axe. The exit code is 1 if something was found.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.axe.browser import Browser
from tests.report.kinds import KINDS
from tests.simulated_runs import make_runs

from s80lab.base import paths

FOLDER = paths.ROOT / "build" / "axe"
AXE = FOLDER / "package" / "axe_playwright_python" / "axe.min.js"
WIDTHS = (1200, 400)
LEAST_PX = 11
REPORTED = ("serious", "critical")
RUN = "axe.run(document, {resultTypes: ['violations']}).then(found => found.violations)"
# The size of each text as it is shown: figures are scaled.
SMALL_TEXT = f"""(() => {{
  const found = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {{
    const element = node.parentElement, text = node.data.trim();
    if (!text || element.closest('script, style, title, details:not([open]) > :not(summary)')) continue;
    const svg = element.closest('svg'), matrix = svg && svg.getScreenCTM();
    const size = parseFloat(getComputedStyle(element).fontSize) * (matrix ? matrix.a : 1);
    if (size < {LEAST_PX} - 0.05) found.set(size.toFixed(1), text.slice(0, 40));
  }}
  return [...found];
}})()"""
TOO_WIDE = "document.documentElement.scrollWidth - innerWidth"


def findings(browser: Browser, page: Path, width: int) -> list[str]:
    """What is wrong with the page in a window of this width."""
    browser.open(page, width)
    found = [f"text of {size} pixels: {text}" for size, text in browser.evaluate(SMALL_TEXT)]
    if (beyond := browser.evaluate(TOO_WIDE)) > 0:
        found.append(f"the page is {beyond} pixels wider than the window")
    browser.evaluate(AXE.read_text(encoding="utf-8") + "; 0")
    violations: list[dict[str, Any]] = browser.evaluate(RUN)
    for one in violations:
        if one["impact"] in REPORTED:
            nodes = one["nodes"]
            found.append(f"{one['id']} ({one['impact']}, {len(nodes)} times): {one['help']}; {nodes[0]['html'][:120]}")
    return found


def make_pages(folder: Path) -> list[Path]:
    """One page of each kind."""
    pages = []
    for name, write in KINDS.items():
        page = folder / f"{name}.html"
        page.write_text(write(make_runs(folder / f"{name}-runs"), folder / name), encoding="utf-8")
        pages.append(page)
    return pages


def main(names: list[str]) -> int:
    """Return the exit code."""
    try:
        return check(names)
    except RuntimeError as error:
        print(f"axe: {error}", file=sys.stderr)
        return 2


def check(names: list[str]) -> int:
    """Check the named pages, or one page of each kind; return the exit code. RuntimeError if the browser fails."""
    if not AXE.is_file():
        print(f"{AXE.relative_to(paths.ROOT)} does not exist; run `make axe`", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        pages = [Path(name) for name in names] or make_pages(Path(folder))
        total = 0
        for page in pages:
            for width in WIDTHS:
                found = findings(browser, page, width)
                shot = FOLDER / f"{page.parent.name if page.stem == 'report' else page.stem}-{width}.png"
                browser.screenshot(shot, width)
                print(f"{page.name} at {width} pixels: {len(found)} findings; {shot.relative_to(paths.ROOT)}")
                for line in found:
                    print(f"  {line}")
                total += len(found)
    return min(total, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
