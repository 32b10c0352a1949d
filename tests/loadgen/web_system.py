# SPDX-License-Identifier: GPL-2.0-or-later
"""A real Apache with the guest's own settings on a free port of 127.0.0.1, all files in one folder."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from tests.loadgen.mail_system import make_certificate
from tests.loadgen.service import Service, free_port

from s80lab.base import paths
from s80lab.config.server import load_server

APACHE = shutil.which("apache2", path="/usr/sbin:/usr/bin")
WEBSTORE = paths.BUILD / "bin" / "s80-webstore"
PAGE = paths.BUILD / "bin" / "s80-page"


def missing() -> str:
    """Why the server cannot run here; empty when it can."""
    if APACHE is None:
        return "needs the package apache2-bin"
    return "" if os.geteuid() == 0 else "Apache's processes change to another user only as root"


@dataclass
class WebSystem:
    """The running server; `stop` ends it."""

    base: Path
    directories: int = 2
    users: int = 12
    document_bytes: int = 0  # of every file; 0: they are of classes
    kind: str = "apache"  # a server of workloads/servers that is one
    port: int = field(default_factory=free_port)
    server: Service | None = None

    @property
    def store(self) -> Path:
        return self.base / "store"

    @property
    def addresses(self) -> list[str]:
        """The load generator's options that name the server."""
        return ["--web", f"127.0.0.1:{self.port}"]

    def said(self) -> str:
        """The server's log of errors."""
        log = self.base / "apache2.log"
        return log.read_text() if log.exists() else "the server wrote no log"

    def start(self) -> None:
        self.base.chmod(0o755)
        sizes = {"directories": self.directories, "users": self.users, "document-bytes": self.document_bytes}
        options = [word for name, value in sizes.items() for word in (f"--{name}", str(value))]
        subprocess.run([WEBSTORE, "--root", self.store, *options], check=True)
        make_certificate(self.base)
        # Apache reads its files as another user, who may not enter the project's folder.
        for name, file in load_server(self.kind).files().items():
            if name.startswith("etc/apache2/"):
                (self.base / Path(name).name).write_bytes(file.content)
        script = self.base / "page.lua"
        settings = {
            "RUN": self.base,
            "USER": "nobody",
            "GROUP": "nogroup",
            "CLIENTS": self.users,
            "PORT": self.port,
            "VARIANT": self.base / "variant.conf",
            "PAGES": self.base / "pages.conf",
            "PAGE": script if script.is_file() else shutil.copy(PAGE, self.base),
            "CERT": self.base,
            "STORE": self.store,
        }
        environment = {f"S80_{name}": str(value) for name, value in settings.items()}
        assert APACHE is not None
        command = [APACHE, "-D", "FOREGROUND", "-f", str(self.base / "apache2.conf")]
        self.server = Service(command, self.port, self.base / "server.log", environment)

    def stop(self) -> None:
        if self.server is not None:
            self.server.end()
