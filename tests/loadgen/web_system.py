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

APACHE = shutil.which("apache2", path="/usr/sbin:/usr/bin")
SETTINGS = paths.ROOT / "workloads" / "servers" / "apache" / "rootfs" / "etc" / "apache2" / "apache2.conf"
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
    port: int = field(default_factory=free_port)
    server: Service | None = None

    @property
    def store(self) -> Path:
        return self.base / "store"

    @property
    def addresses(self) -> list[str]:
        """The load generator's options that name the server."""
        return ["--web", f"127.0.0.1:{self.port}"]

    def start(self) -> None:
        self.base.chmod(0o755)
        sizes = ["--directories", str(self.directories), "--users", str(self.users)]
        subprocess.run([WEBSTORE, "--root", self.store, *sizes], check=True)
        shutil.copy(PAGE, self.base / "s80-page")
        make_certificate(self.base)
        settings = {
            "RUN": self.base,
            "USER": "nobody",
            "GROUP": "nogroup",
            "CLIENTS": self.users,
            "PORT": self.port,
            "CERT": self.base,
            "STORE": self.store,
            "PAGE": self.base / "s80-page",
        }
        environment = {f"S80_{name}": str(value) for name, value in settings.items()}
        assert APACHE is not None
        command = [APACHE, "-D", "FOREGROUND", "-f", str(SETTINGS)]
        self.server = Service(command, self.port, self.base / "server.log", environment)

    def stop(self) -> None:
        if self.server is not None:
            self.server.end()
