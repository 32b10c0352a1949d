# SPDX-License-Identifier: GPL-2.0-or-later
"""A check of the structure of a page for readers who do not see it, or who use a keyboard."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser

LEAST_CONTRAST = 4.5
"""Of text with its background (Web Content Accessibility Guidelines 2, level AA)."""
# Text on background, by the variables of the style sheets.
PAIRS = [
    ("ink", "paper"),
    ("quiet", "paper"),
    ("ink", "wash"),
    ("quiet", "wash"),
    ("warn", "paper"),
    ("ink", "warn-wash"),
    ("alarm", "paper"),
]
_VOID = {"meta", "link", "br", "img", "hr", "input", "col"}
Attributes = dict[str, str | None]


class _Reader(HTMLParser):
    """Collects the faults of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.faults: list[str] = []
        self.tags: list[tuple[str, Attributes]] = []
        self.ids: Counter[str] = Counter()
        self.links: list[str] = []
        self.headings: list[int] = []
        self.title = ""
        self.style = ""
        self.heading = ""
        self.languages: list[str | None] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        inside = [name for name, _ in self.tags]
        if named.get("id"):
            self.ids[str(named["id"])] += 1
        if tag == "html":
            self.languages.append(named.get("lang"))
        if tag == "a" and str(named.get("href", "")).startswith("#"):
            self.links.append(str(named["href"])[1:])
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "svg" and "svg" not in inside and not (named.get("role") == "img" and named.get("aria-label")):
            self.faults.append("a figure has no text alternative")
        if tag == "img" and not named.get("alt"):
            self.faults.append("an image has no text alternative")
        if tag == "th" and not named.get("scope"):
            self.faults.append("a table heading does not state what it is the heading of")
        if tag == "table" and not any("tabindex" in attributes for _, attributes in self.tags):
            self.faults.append("a table that may scroll cannot be reached with the keyboard")
        if tag in ("table", "h1", "p", "svg") and "main" not in inside:
            self.faults.append(f"<{tag}> is outside <main>")
        if tag not in _VOID:
            self.tags.append((tag, named))

    def handle_endtag(self, tag: str) -> None:
        if tag == "th":
            if not self.heading.strip():
                self.faults.append("a table heading is empty")
            self.heading = ""
        while self.tags and self.tags.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        inside = self.tags[-1][0] if self.tags else ""
        if inside == "title" and [name for name, _ in self.tags].count("svg") == 0:
            self.title += data
        elif inside == "style":
            self.style += data
        if any(name == "th" for name, _ in self.tags):
            self.heading += data


def faults(page: str) -> list[str]:
    """What is wrong with the structure of a page; empty for a sound page."""
    reader = _Reader()
    reader.feed(page)
    found = dict.fromkeys(reader.faults)
    if reader.languages != ["en"]:
        found["the page does not state its language"] = None
    if not reader.title.strip():
        found["the page has no title"] = None
    if reader.headings[:1] != [1] or reader.headings.count(1) != 1:
        found["the page does not begin with one heading of the first level"] = None
    for above, below in zip(reader.headings, reader.headings[1:], strict=False):
        if below > above + 1:
            found[f"a heading of level {below} follows one of level {above}"] = None
    for name, count in reader.ids.items():
        # matplotlib gives equal names to equal parts of different figures.
        if count > 1 and name in reader.links:
            found[f"{count} elements have the id {name}"] = None
    for name in reader.links:
        if name not in reader.ids:
            found[f"a link to #{name} has no target"] = None
    return [*found, *contrast_faults(reader.style)]


def contrast_faults(style: str) -> list[str]:
    """The pairs of text and background whose contrast is too low, in the light and dark colours of a style sheet."""
    themes = [
        dict(re.findall(r"--([a-z-]+): *(#[0-9a-fA-F]+)", block)) for block in re.findall(r":root \{[^}]*\}", style)
    ]
    return [
        f"--{text} on --{ground}: contrast {ratio:.2f}"
        for theme in themes
        for text, ground in PAIRS
        if text in theme and ground in theme and (ratio := contrast(theme[text], theme[ground])) < LEAST_CONTRAST
    ]


def contrast(one: str, other: str) -> float:
    """The contrast of two colours `#rgb` or `#rrggbb`: 1 (equal) to 21 (black and white)."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
