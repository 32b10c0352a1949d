# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs Buildroot's make in its own output folder, from the configuration to the target folder. Failures become one
sentence."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from s80lab.base.errors import UserError
from s80lab.base.hashing import text_hash
from s80lab.image.buildroot.tree import TREE, Buildroot, Configuration, sources_digest, tree_digest

OWN_PACKAGE = "s80lab-guest"
INPUTS, SOURCES = ".s80lab-inputs", ".s80lab-sources"
_TOOL = re.compile(r"You must install '?([\w+.-]+)'?", re.ASCII)
_DOWNLOAD = re.compile(r"/build/([^/\s]+)/\.stamp_downloaded\]? (?:Error|Interrupt)")
_HASH = re.compile(r"ERROR: (?:while checking hashes from \S+|(\S+) has wrong (?:sha\w+|md5) hash)")


@dataclass(frozen=True)
class Make:
    """One output folder (O=) of a Buildroot. downloads: a folder with all sources, so that nothing is fetched; None:
    fetch sources as Buildroot does. say: receives lines of progress."""

    buildroot: Buildroot
    out: Path
    downloads: Path | None
    say: Callable[[str], None]

    @property
    def log(self) -> Path:
        return self.out.with_name(f"{self.out.name}.log")

    def build(self, configuration: Configuration) -> None:
        """Build the target folder and `legal-info`. Results of an earlier build with the same inputs are kept.
        UserError names what is missing."""
        inputs = text_hash(f"{self.buildroot} {configuration.text()} {tree_digest()}")
        if not _holds(self.out / INPUTS, inputs):
            shutil.rmtree(self.out, ignore_errors=True)
            self.out.mkdir(parents=True)
            (self.out / INPUTS).write_text(inputs)
        self.log.unlink(missing_ok=True)
        defconfig = self.out / "s80lab.defconfig"
        defconfig.write_text(configuration.text())
        self._run("configuring", f"BR2_EXTERNAL={TREE}", f"BR2_DEFCONFIG={defconfig}", "defconfig")
        if refused := configuration.refused(self.out / ".config"):
            raise UserError(
                f"Buildroot {self.buildroot.version} rejects the option `{refused[0]}`: this version has no "
                "such option, or another option on which it depends is missing; correct the fragment"
            )
        self._run("gathering the sources", *self._sites(), "source")
        sources = sources_digest()
        if not _holds(self.out / SOURCES, sources):
            if any(self.out.glob(f"build/{OWN_PACKAGE}-*")):
                self._run("", f"{OWN_PACKAGE}-dirclean")
            (self.out / SOURCES).write_text(sources)
        self._run("compiling, which takes long the first time", *self._sites(), "all")
        try:
            self._run("gathering licences", *self._sites(), "legal-info")
        except UserError as error:
            # Buildroot demands the licence's text of its own version even of a source that the user put in its place.
            self.say(f"warning: the image has no complete bill of materials: {error}")

    def packages(self) -> str:
        """Buildroot's description of its packages (`show-info`), as JSON."""
        return self._output("show-info")

    def _sites(self) -> list[str]:
        if self.downloads is None:
            return []
        return [f"BR2_PRIMARY_SITE=file://{self.downloads}", "BR2_PRIMARY_SITE_ONLY=y"]

    def _command(self, *words: str) -> list[str]:
        return ["make", "-C", str(self.buildroot.root), f"O={self.out}", *words]

    def _environment(self) -> dict[str, str]:
        """The environment without variables that an outer make passes to inner ones. With a read-only folder of
        sources, copies of the sources are kept next to the output."""
        own = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "O")}
        own["LC_ALL"] = "C"
        if self.downloads is not None:
            own["BR2_DL_DIR"] = str(self.out.parent / "downloads")
        return own

    def _run(self, what: str, *words: str) -> None:
        began = time.monotonic()
        if what:
            self.say(f"image: {what} (log: {self.log})")
        with self.log.open("ab") as log:
            begin = log.tell()
            process = subprocess.Popen(
                self._command(*words),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self._environment(),
                start_new_session=True,
            )
            try:
                code = process.wait()
            except BaseException:
                os.killpg(process.pid, signal.SIGTERM)
                process.wait()
                raise
        if code:
            output = self.log.read_bytes()[begin:].decode(errors="replace")
            raise UserError(f"{complaint(output, self.downloads)}; full log: {self.log}")
        if what:
            self.say(f"image: {what.split(',')[0]} took {time.monotonic() - began:.0f} s")

    def _output(self, *words: str) -> str:
        command = [*self._command(*words), "--silent", "--no-print-directory"]
        result = subprocess.run(command, capture_output=True, text=True, env=self._environment(), check=False)
        if result.returncode:
            raise UserError(complaint(result.stderr, self.downloads))
        return result.stdout


def complaint(output: str, downloads: Path | None) -> str:
    """The error in Buildroot's output: a missing tool or source, or else make's last message."""
    if tools := list(dict.fromkeys(_TOOL.findall(output))):
        return f"Buildroot needs {', '.join(tools)} on this machine: apt-get install {' '.join(tools)}"
    if missing := list(dict.fromkeys(_DOWNLOAD.findall(output))):
        where = f"is missing in {downloads}" if downloads else "cannot be fetched"
        wrong = ", or its hash is not the one that Buildroot has recorded" if _HASH.search(output) else ""
        return f"the source of {missing[0]} {where}{wrong}"
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    stops = [line for line in lines if "*** " in line]  # a row of stars is an ornament
    return f"Buildroot failed: {(stops or lines or ['it printed nothing'])[0 if stops else -1]}"


def _holds(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text() == text
