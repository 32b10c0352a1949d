# SPDX-License-Identifier: GPL-2.0-or-later
"""A real Dovecot (IMAPS, LMTP and, where installed, POP3S) and a real OpenSMTPD on free ports of 127.0.0.1, all files
in one folder. A small mail store in mbox format."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from tests.loadgen.service import Service, free_port

DOVECOT = shutil.which("dovecot", path="/usr/sbin:/usr/bin")
SMTPD = shutil.which("smtpd", path="/usr/sbin:/usr/bin")

# Without lazy writes: with them a STORE that is the first to write a delivered message's headers into the mbox file
# loses its flag (here one in 1,000, which the load generator sets again), now and then twice in a row (an error).
DOVECOT_CONF = """\
protocols = imap lmtp{pop3_too}
listen = 127.0.0.1
base_dir = {base}/run
state_dir = {base}/run
log_path = {base}/dovecot.log
ssl = required
ssl_min_protocol = TLSv1.3
ssl_cert = <{base}/cert.pem
ssl_key = <{base}/key.pem
ssl_dh =
auth_failure_delay = 0
auth_username_format = %Ln
mail_location = mbox:~/mail:INBOX=~/inbox:INDEX=MEMORY
mailbox_list_index = no
mail_privileged_group =
mail_fsync = never
mbox_read_locks = fcntl
mbox_write_locks = fcntl
mbox_lazy_writes = no
mail_max_userip_connections = 0
first_valid_uid = 1
default_process_limit = 400
default_client_limit = 2000
passdb {{
  driver = static
  args = password={password}
}}
userdb {{
  driver = static
  args = uid=nobody gid=nogroup home={base}/store/%n allow_all_users=yes
}}
namespace inbox {{
  inbox = yes
}}
service imap-login {{
  service_count = 0
  client_limit = 400
  inet_listener imap {{
    port = 0
  }}
  inet_listener imaps {{
    port = {imap}
    ssl = yes
  }}
}}
service lmtp {{
  inet_listener lmtp {{
    address = 127.0.0.1
    port = {lmtp}
  }}
}}
{pop3_service}
service stats {{
  chroot =
}}
{extra}
"""

POP3_SERVICE = """\
service pop3-login {{
  service_count = 0
  client_limit = 400
  inet_listener pop3 {{
    port = 0
  }}
  inet_listener pop3s {{
    port = {pop3}
    ssl = yes
  }}
}}
"""

SMTPD_CONF = """\
queue ttl 1m
listen on 127.0.0.1 port {smtp} hostname mail.s80.example
action "store" relay host "lmtp://127.0.0.1:{lmtp}"
match from any for domain "s80.example" action "store"
"""

# The spool and the control socket of a server of the machine itself stay out of sight.
SMTPD_START = """\
mount -t tmpfs spool /var/spool
mkdir -m 711 /var/spool/smtpd
mount -t tmpfs run /run
echo "lookup file" > /run/resolv.conf
mount --bind /run/resolv.conf /etc/resolv.conf
exec "$0" -d -f "$1"
"""


def missing() -> str:
    """Why the servers cannot run here; empty when they can."""
    if DOVECOT is None or not Path("/usr/lib/dovecot/lmtp").exists():
        return "needs the packages dovecot-imapd and dovecot-lmtpd"
    if SMTPD is None:
        return "needs the package opensmtpd"
    return "" if os.geteuid() == 0 else "Dovecot and OpenSMTPD start only as root"


def has_pop3() -> bool:
    return Path("/usr/lib/dovecot/pop3").exists()


def smtpd_command(settings: Path) -> list[str]:
    """OpenSMTPD in a mount namespace, which is the caller's to make."""
    assert SMTPD is not None
    return ["sh", "-ec", SMTPD_START, SMTPD, str(settings)]


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """Of 127.0.0.1, signed by nobody: certificate and key."""
    certificate, key = folder / "cert.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    command += ["-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    return certificate, key


@dataclass
class MailSystem:
    """The running servers; `stop` ends them."""

    base: Path
    extra: str = ""  # further Dovecot settings
    password: str = "secret"  # everybody's; the load generator knows it
    imap: int = field(default_factory=free_port)
    pop3: int = field(default_factory=free_port)
    smtp: int = field(default_factory=free_port)
    lmtp: int = field(default_factory=free_port)
    servers: list[Service] = field(default_factory=list)

    @property
    def addresses(self) -> list[str]:
        """The load generator's options that name the servers."""
        ports = {"imap": self.imap, "pop3": self.pop3, "smtp": self.smtp}
        return [word for name, port in ports.items() for word in (f"--{name}", f"127.0.0.1:{port}")]

    def start(self) -> None:
        self.base.chmod(0o755)
        ports = {"base": self.base, "imap": self.imap, "pop3": self.pop3, "smtp": self.smtp, "lmtp": self.lmtp}
        own = {"extra": self.extra, "password": self.password, "pop3_too": "", "pop3_service": ""}
        if has_pop3():
            own |= {"pop3_too": " pop3", "pop3_service": POP3_SERVICE.format(**ports)}
        (self.base / "dovecot.conf").write_text(DOVECOT_CONF.format(**ports, **own))
        (self.base / "smtpd.conf").write_text(SMTPD_CONF.format(**ports))
        (self.base / "smtpd.conf").chmod(0o600)
        make_certificate(self.base)
        assert DOVECOT is not None
        log = self.base / "servers.log"
        self.servers.append(Service([DOVECOT, "-F", "-c", str(self.base / "dovecot.conf")], self.imap, log))
        self.servers.append(Service(smtpd_command(self.base / "smtpd.conf"), self.smtp, log))

    def kill_imap(self) -> None:
        """Dovecot and its processes end at once."""
        self.servers[0].end()

    def stop(self) -> None:
        while self.servers:
            self.servers.pop().end()


WORDS = ["budget", "contract", "delivery", "invoice", "meeting", "minutes", "project", "schedule"]


def message(rng: random.Random, number: int) -> str:
    """One message as it stands in an mbox file."""
    subject = " ".join(rng.choices(WORDS, k=3))
    lines = "".join(" ".join(rng.choices(WORDS, k=8)) + "\n" for _ in range(rng.choice([10, 20, 60])))
    return (
        "From sender@outside.example Mon Jan  1 00:00:00 2001\n"
        "From: Sender <sender@outside.example>\nTo: <user@s80.example>\n"
        f"Subject: {subject}\nDate: Mon, 1 Jan 2001 00:00:00 +0000\nMessage-ID: <{number}@outside.example>\n\n"
        f"{lines}\n"
    )


def build(root: Path, users: int, folders: int = 4, messages: int = 20) -> None:
    """INBOX and `folders` more for user001 ... under `root`, `messages` in each; the same in every call."""
    rng = random.Random(1)
    for user in range(1, users + 1):
        home = root / f"user{user:03}"
        (home / "mail").mkdir(parents=True)
        for path in [home / "inbox", *(home / "mail" / f"folder {i}" for i in range(1, folders + 1))]:
            path.write_text("".join(message(rng, i) for i in range(messages)))
        for path in [home, *home.rglob("*")]:
            shutil.chown(path, "nobody", "nogroup")
    root.chmod(0o755)
