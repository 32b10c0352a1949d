# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks the language of pages, docstrings, messages and commit subjects; part of `make lint`.

The rules are those of CONTRIBUTING.md, as far as a program can judge them. Prose linters such as Vale are programs of
their own that no package registry here carries, so this script parses Markdown with markdown-it-py and applies four
rules. Exit code 1: a finding per line, as FILE:LINE: text.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parents[1]
SENTENCE_WORDS = 35
LINE_CHARACTERS = 160
SUBJECT_CHARACTERS = 72
SUBJECT = re.compile(r"[A-Za-z0-9_.,/ -]+: \S")
FIRST_CHECKED = "3f71e7b"
"""The subjects of the commits after this one are checked."""

SHORT_SENTENCES = ("README.md", "docs/tutorial/*.md", "docs/guides/*.md")

TERMS = {
    r"(?<!there )is no (?!longer\b|more\b|other\b|less\b|fewer\b|such\b)[a-z]+": "write `is not a ...`",
    r"(?<!there )are no (?!longer\b|more\b|other\b|less\b|fewer\b|such\b)[a-z]+": "write `are not ...`",
    r"client cycles?": "closed-loop cycle",
    r"knock-outs?": "ablation",
    r"memory's share": "share of misses serviced by memory",
    r"modelled (?:time|seconds?|milliseconds?|ms|clock)": "simulated time",
    r"the guest's time": "virtual time",
    r"placed windows?": "L1-filtered epoch",
    r"(?<!\.)order files?": "totally ordered trace",
    r"misses with a name|misses? by name": "attributed misses",
    r"off (?:its|the) laws?": "violates Little's law or the utilisation law",
    r"so (?:much|many) more": "state the number",
    r"(?:is|are) told(?! apart)": "name who tells what to whom",
    r"nobody told|as they come|who came|what comes meanwhile|of which there": "name the subject",
    r"other than before": "state what changed",
    r"was mended|is mended|were mended": "fixed",
    r"goes? on from": "resumes from",
}
"""Replaced terms that are wrong in every context, and what to write instead (docs/reference/glossary.md)."""
PATTERN = re.compile("|".join(rf"(?P<t{n}>\b(?:{term})\b)" for n, term in enumerate(TERMS)), re.IGNORECASE)


@dataclass(frozen=True)
class Text:
    """A piece of prose: a paragraph, a heading, a list item, a table cell, a docstring or a message."""

    file: str
    line: int
    text: str
    table: bool = False


def markdown_texts(file: str) -> Iterator[Text]:
    """The prose of a page; a code span counts as one word, fenced code and comments are left out."""
    source = (ROOT / file).read_text(encoding="utf-8")
    inside_table = False
    for token in MarkdownIt("commonmark").enable("table").parse(source):
        inside_table = token.type == "table_open" or (inside_table and token.type != "table_close")
        if token.type == "inline":
            yield Text(file, token.map[0] + 1 if token.map else 1, _plain(token), inside_table)


def _plain(token: Token) -> str:
    parts = []
    for child in token.children or ():
        if child.type == "code_inline":
            parts.append("`" + child.content.replace(" ", "_") + "`")
        elif child.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif child.type == "text":
            parts.append(child.content)
    return "".join(parts)


def python_texts(file: str) -> Iterator[Text]:
    """Docstrings and string literals of a Python file that contain a sentence."""
    for node in ast.walk(ast.parse((ROOT / file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.count(" ") >= 2:
            yield Text(file, node.lineno, node.value)


def long_sentences(text: Text) -> Iterator[str]:
    """Sentences of more than SENTENCE_WORDS words."""
    for sentence in re.split(r"(?<=[.!?])[)\"']?\s+", text.text):
        words = len(sentence.split())
        if words > SENTENCE_WORDS:
            yield f"{text.file}:{text.line}: a sentence of {words} words, {SENTENCE_WORDS} at most: {sentence[:60]}..."


def replaced_terms(text: Text) -> Iterator[str]:
    """Terms that another one replaces; text in backticks and the glossary's *Formerly* are exempt."""
    plain = re.sub(r"`[^`]*`|Formerly [^.|]*|[Ff]ormerly \*[^*]*\*", "", text.text)
    for found in PATTERN.finditer(plain):
        advice = list(TERMS.values())[int((found.lastgroup or "t0")[1:])]
        yield f"{text.file}:{text.line}: `{found[0]}`: {advice}"


def long_lines(file: str) -> Iterator[str]:
    """Lines of LINE_CHARACTERS or more outside tables and fenced code."""
    fenced = False
    for number, line in enumerate((ROOT / file).read_text(encoding="utf-8").splitlines(), 1):
        fenced ^= line.lstrip().startswith("```")
        if len(line) >= LINE_CHARACTERS and not fenced and not line.lstrip().startswith("|"):
            yield f"{file}:{number}: a line of {len(line)} characters, below {LINE_CHARACTERS} is asked for"


def subjects() -> Iterator[str]:
    """Commit subjects since FIRST_CHECKED that are not `area: summary` of SUBJECT_CHARACTERS at most."""
    known = subprocess.run(["git", "cat-file", "-e", FIRST_CHECKED], cwd=ROOT, capture_output=True)
    if known.returncode:
        print("language: this clone has no history; commit subjects are not checked", file=sys.stderr)
        return
    log = subprocess.run(
        ["git", "log", "--no-merges", "--format=%h %s", f"{FIRST_CHECKED}..HEAD"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    for line in log.stdout.splitlines():
        commit, _, subject = line.partition(" ")
        if len(subject) > SUBJECT_CHARACTERS:
            yield f"commit {commit}: a subject of {len(subject)} characters, {SUBJECT_CHARACTERS} at most: {subject}"
        if not SUBJECT.match(subject):
            yield f"commit {commit}: the subject is not `area: imperative summary`: {subject}"


def findings(files: Sequence[str] = ()) -> Iterator[str]:
    """Everything that is wrong. files: the pages and Python files to check; without any, all of the checkout."""
    for file in files or _all_files():
        if file.endswith(".md"):
            yield from long_lines(file)
            limited = any(fnmatch(file, pattern) for pattern in SHORT_SENTENCES)
            for text in markdown_texts(file):
                yield from replaced_terms(text)
                if limited and not text.table:
                    yield from long_sentences(text)
        elif file.endswith(".py"):
            for text in python_texts(file):
                yield from replaced_terms(text)
    if not files:
        yield from subjects()


def _all_files() -> list[str]:
    command = ["git", "ls-files", "-co", "--exclude-standard", "*.md", "scripts/s80lab/*.py"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return sorted(file for file in set(listed.stdout.splitlines()) if (ROOT / file).is_file())


if __name__ == "__main__":
    found = list(findings(sys.argv[1:]))
    for line in found:
        print(line, file=sys.stderr)
    sys.exit(bool(found))
