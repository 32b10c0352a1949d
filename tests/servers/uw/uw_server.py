# SPDX-License-Identifier: GPL-2.0-or-later
"""A running s80-uw-imapd with a small mail store, and an OpenSMTPD that delivers into it; all files in one folder. The
answers of imaplib, and the messages of an mbox file."""

from __future__ import annotations

import imaplib
import re
import shutil
import signal
import ssl
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.loadgen.mail_system import make_certificate, smtpd_command
from tests.loadgen.service import Service, free_port

from s80lab.base import paths

IMAPD = paths.BUILD / "bin" / "s80-uw-imapd"
DELIVER = paths.BUILD / "bin" / "s80-uw-deliver"
MAILSTORE = paths.BUILD / "bin" / "s80-mailstore"

USERS = 12
PASSWORD = "secret"  # the load generator knows it

# Whoever the recipient is, the program runs as one user, who owns the mail.
SMTPD_CONF = """\
queue ttl 1m
listen on 127.0.0.1 port {port} hostname mail.s80.example
table owner {{ "@s80.example" = nobody }}
action "deliver" mda "{deliver} --mail {mail} %{{rcpt.user}}" virtual <owner>
match from any for domain "s80.example" action "deliver"
"""


@dataclass
class UwServer:
    """`mail` is the pattern of a user's home; `stop` ends both servers."""

    base: Path
    smtp: int = 0
    imap: int = 0
    servers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    mta: Service | None = None

    @property
    def mail(self) -> str:
        return str(self.base / "store" / "%u")

    def home(self, user: str = "user001") -> Path:
        return self.base / "store" / user

    def build_store(self, mailbox_kib: int = 64) -> None:
        command = [str(MAILSTORE), "--root", str(self.base / "store"), "--users", str(USERS), "--mailboxes", "5"]
        command += ["--mailbox-kib", str(mailbox_kib), "--seed", "1"]
        (self.base / "store").mkdir()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def start_imap(self, *options: str) -> subprocess.Popen[bytes]:
        """On a free port, which the server names in its first line."""
        certificate, key = make_certificate(self.base)
        passwords = self.base / "passwd"
        passwords.write_text("".join(f"user{i:03}:{PASSWORD}\n" for i in range(1, USERS + 1)))
        command = [str(IMAPD), "--listen", "127.0.0.1:0", "--cert", str(certificate), "--key", str(key)]
        command += ["--passwd", str(passwords), "--mail", self.mail, *options]
        with (self.base / "imapd.log").open("ab") as log:
            server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log)
        self.servers.append(server)
        assert server.stdout is not None
        line = server.stdout.readline().decode()
        assert line.startswith("s80-uw-imapd: listening on 127.0.0.1:"), (self.base / "imapd.log").read_text()
        self.imap = int(line.rpartition(":")[2])
        return server

    def start_smtp(self) -> None:
        """Needs root: OpenSMTPD takes the rights of its parts, and of the mail's owner, by itself."""
        self.base.chmod(0o755)
        (self.base / "store").chmod(0o755)
        deliver = self.base / "s80-uw-deliver"  # where the mail's owner can run it
        shutil.copy(DELIVER, deliver)
        for path in (self.base / "store").rglob("*"):
            shutil.chown(path, "nobody", "nogroup")
        self.smtp = free_port()
        conf = self.base / "smtpd.conf"
        conf.write_text(SMTPD_CONF.format(port=self.smtp, deliver=deliver, mail=self.mail))
        conf.chmod(0o600)
        self.mta = Service(smtpd_command(conf), self.smtp, self.base / "smtpd.log")

    def connect(self, user: str = "user001") -> imaplib.IMAP4_SSL:
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        client = imaplib.IMAP4_SSL("127.0.0.1", self.imap, ssl_context=context)
        client.login(user, PASSWORD)
        return client

    def deliver(self, message: bytes, user: str = "user001") -> subprocess.CompletedProcess[str]:
        done = subprocess.run([DELIVER, "--mail", self.mail, user], input=message, capture_output=True, check=False)
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    def stop(self) -> None:
        if self.mta is not None:
            self.mta.end()
        for server in self.servers:
            if server.poll() is None:
                server.send_signal(signal.SIGTERM)
        for server in self.servers:
            server.wait()
            if server.stdout is not None:
                server.stdout.close()


def ok(answer: tuple[str, list[Any]]) -> list[Any]:
    """What a command brought, which must have been a success."""
    assert answer[0] == "OK", answer
    return answer[1]


def literal(answer: tuple[str, list[Any]]) -> bytes:
    return bytes(ok(answer)[0][1])


def count(client: imaplib.IMAP4, mailbox: str) -> int:
    return int(ok(client.select(mailbox))[0])


KEPT_BY_THE_SERVER = (b"X-IMAPbase:", b"X-UID:", b"Status:", b"X-Status:", b"X-Keywords:")
BEGIN = re.compile(rb"^From \S+ \w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}.*\n", re.MULTILINE)


def messages(path: Path) -> list[tuple[bytes, bytes]]:
    """(header, body) of each, with CRLF, without the "From " line and what the server keeps in the header."""
    found = []
    for text in BEGIN.split(path.read_bytes())[1:]:
        header, body = text.removesuffix(b"\n").split(b"\n\n", 1)
        lines = [line for line in header.split(b"\n") if not line.startswith(KEPT_BY_THE_SERVER)]
        found.append((b"\r\n".join([*lines, b"", b""]), body.replace(b"\n", b"\r\n")))
    return found
