# SPDX-License-Identifier: GPL-2.0-or-later
"""Workload profiles (workloads/profiles): the protocol, the mix of its transactions, and the job file made from it.

Job format: docs/reference/interfaces/job.md. Mixes: Koka and Lipasti, Tables 1 and 2, in percent.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import (
    BeforeValidator,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    model_validator,
)

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.strict import Size, Strict, find, hint, read_toml, resolve, shown
from s80lab.config.mix import Mix, Workload, number
from s80lab.config.script import Script, Sizes, apportioned, sizes_line


class Thresholds(Strict):
    """Bounds that a transaction must not cross: per user for mailboxes, per mailbox for messages."""

    mailboxes_min: PositiveInt
    mailboxes_max: PositiveInt
    messages_min: NonNegativeInt
    messages_max: PositiveInt

    @model_validator(mode="after")
    def _order(self) -> Self:
        if self.mailboxes_min > self.mailboxes_max:
            raise ValueError(f"mailboxes_min = {self.mailboxes_min} is above mailboxes_max = {self.mailboxes_max}")
        if self.messages_min > self.messages_max:
            raise ValueError(f"messages_min = {self.messages_min} is above messages_max = {self.messages_max}")
        return self


def _header_fetch(value: object) -> object:
    if value in ("range", "each") or (type(value) is int and value >= 1):
        return value
    raise ValueError(f'`{value}` is not allowed: it must be "range", "each" or a whole number of at least 1')


class Imap(Mix):
    """Users of an IMAP server, online for as long as the load lasts.

    incoming_per_s: messages a second from the external mail server, all users together. header_fetch: how SELT fetches
    the headers: `range`, all by one FETCH; `each`, by one for each message; a number, by one for so many.
    """

    WHAT: ClassVar = {
        "CRTE": "Create a mailbox",
        "DELT": "Delete a mailbox",
        "RENM": "Rename a mailbox",
        "SRCH": "Search a message by subject",
        "SELT": "Select a mailbox and fetch headers of all emails",
        "COPY": "Copy a message from current mailbox to a random mailbox",
        "MOVE": "Move a message from current mailbox to a random mailbox",
        "VIEW": "Fetch entire body of a message",
        "SEND": "Send a message to a random user",
        "MDEL": "Mark delete flag on a message and expunge the message",
    }
    SUBSTITUTED = "because a mailbox was too small or too large"

    protocol: Literal["imap"] = "imap"
    incoming_per_s: NonNegativeFloat
    move: Literal["auto", "move", "copy"] = "auto"
    header_fetch: Annotated[str | int, BeforeValidator(_header_fetch)] = "range"
    thresholds: Thresholds

    def own_lines(self) -> list[str]:
        return [
            *(f"{key}={value}" for key, value in self.thresholds),
            f"incoming_per_s={number(self.incoming_per_s)}",
            f"move={self.move}",
            f"header_fetch={self.header_fetch}",
        ]


class Pop3(Mix):
    """Users who look for mail now and then, a session each time.

    incoming_per_s: as of Imap. retrieve_max: messages that a session retrieves at most. delete_percent: of these it
    deletes so many. messages_max: an INBOX of so many is sent no more mail.
    """

    WHAT: ClassVar = {
        "CHCK": "Log in, see what mail there is, log out",
        "RETR": "Log in, retrieve the new mail, delete some of it, log out",
        "SEND": "Send a message to a random user",
    }
    SUBSTITUTED = "because no new mail was there to be retrieved"

    protocol: Literal["pop3"]
    driver: Literal["chain", "independent"] = "independent"
    incoming_per_s: NonNegativeFloat
    retrieve_max: PositiveInt
    delete_percent: Annotated[float, Field(ge=0, le=100)]
    messages_max: PositiveInt

    def own_lines(self) -> list[str]:
        return [
            f"messages_max={self.messages_max}",
            f"incoming_per_s={number(self.incoming_per_s)}",
            f"retrieve_max={self.retrieve_max}",
            f"delete_percent={number(self.delete_percent)}",
        ]


class Web(Mix):
    """Users of a web server. requests_max: a connection is kept for so many requests at most, for half as many on
    average. tls: of the connections; servers without it have files alone."""

    WHAT: ClassVar = {"FILE": "Get a static file", "PAGE": "Get a page that a program makes"}

    protocol: Literal["web"]
    tls: bool = True
    driver: Literal["chain", "independent"] = "independent"
    requests_max: PositiveInt

    @model_validator(mode="after")
    def _files_alone(self) -> Self:
        if not self.tls and self.mix_percent["PAGE"]:
            raise ValueError("PAGE needs tls: servers without it have files alone")
        return self

    @property
    def speaks(self) -> tuple[str, ...]:
        return ("web",) if self.tls else ("web-plain",)

    def own_lines(self) -> list[str]:
        return [*_tls_line(self.tls), f"requests_max={self.requests_max}"]

    def login_lines(self, clients: int) -> list[str]:
        return [*_tls_line(self.tls), *super().login_lines(clients)]


class Jbb(Mix):
    """Clients of a warehouse server, one a warehouse. batch: how often the server does the work of a request: the load
    generator, one thread, has to keep all processors busy."""

    WHAT: ClassVar = {
        "NEWO": "Order items",
        "PAYM": "Pay",
        "ORDS": "Look up the latest order of a customer",
        "DLVR": "Deliver the oldest orders of all districts",
        "STCK": "Count the items of a district that run short",
        "CUST": "Report on a customer",
    }

    protocol: Literal["jbb"]
    driver: Literal["chain", "independent"] = "independent"
    batch: PositiveInt = 200

    def own_lines(self) -> list[str]:
        return [f"batch={self.batch}"]


PACKET_MS = 20
"""What a packet of a medium lasts (workloads/media)."""


TICK_TOLERANCE = 0.02
"""By how much the guest's timer interrupts may be off: the server paces its streams by them."""


class Rtp(Mix):
    """Clients of a streaming server. media: `unique`, all play the first user's; `multiple`, each that of its
    account. rate_kbps: of the
    media. play_ms: of a medium, at a time, in modelled time, from a random place of it on. late_ms: a packet that is so
    much later than the first of its stream lets expect is an error."""

    WHAT: ClassVar = {"PLAY": "Play a part of a medium"}

    protocol: Literal["rtp"]
    driver: Literal["chain", "independent"] = "independent"
    media: Literal["unique", "multiple"]
    rate_kbps: Annotated[int, Field(gt=0, multiple_of=2)]
    play_ms: Annotated[int, Field(gt=0, multiple_of=PACKET_MS)]
    late_ms: PositiveFloat

    def own_lines(self) -> list[str]:
        return [
            f"media={self.media}",
            f"rate_kbps={self.rate_kbps}",
            f"play_ms={self.play_ms}",
            f"late_ms={number(self.late_ms)}",
            f"tick_tolerance={TICK_TOLERANCE}",
        ]


class Route(Mix):
    """Clients on one side of a router, each with a connection to a sink on its other side. message_bytes: of a message,
    with its header."""

    WHAT: ClassVar = {
        "SEND": "Send a message, which is acknowledged",
        "SWAP": "Send a message and receive one of the same size",
    }

    protocol: Literal["route"]
    driver: Literal["chain", "independent"] = "independent"
    message_bytes: Annotated[int, Field(ge=16, le=65536)]

    def own_lines(self) -> list[str]:
        return [f"message_bytes={self.message_bytes}"]


class Probe(Mix):
    """Who has the costs of memory measured. working_set: bytes of which half is copied to the other half, or that each
    process walks through; stride: bytes from one word that is accessed to the next; both powers of two. batch: words
    that a COPY copies, times that PASS and KEEP hand the token over."""

    WHAT: ClassVar = {
        "COPY": "Copy memory word by word",
        "PASS": "Two processes hand a token to each other, which is a context switch, and walk through their memory",
        "KEEP": "One process hands the token to itself and walks through its memory as often",
    }

    protocol: Literal["probe"]
    driver: Literal["chain", "independent"] = "independent"
    working_set: Annotated[Size, Field(ge=4096, le=64 << 20)]
    stride: Annotated[Size, Field(ge=4, le=4096)]
    batch: PositiveInt

    @model_validator(mode="after")
    def _whole(self) -> Self:
        for key in ("working_set", "stride"):
            if getattr(self, key).bit_count() != 1:
                raise ValueError(f"{key} = {getattr(self, key)} is no power of two")
        words = self.working_set // 8
        if self.mix_percent["COPY"] > 0 and self.batch % words:
            raise ValueError(f"batch = {self.batch} words are no whole number of passes over {words}")
        if self.mix_percent["PASS"] > 0 and self.batch % 2:
            raise ValueError(f"batch = {self.batch} is odd: both processes have as many turns")
        return self

    def own_lines(self) -> list[str]:
        return [f"working_set={self.working_set}", f"stride={self.stride}", f"batch={self.batch}"]


class Scripts(Workload):
    """Clients that follow scripts, each a transaction type (docs/guides/client-scripts.md).

    sizes: bytes of the messages that are sent and their percent. speed_up: by how much faster than it was written the
    load goes: waits, think times and ramps are divided by it, rates multiplied. tls: of connections to read mail.
    recipients: whom mail is sent to, any account or those that a client has."""

    protocol: Literal["scripts"]
    tls: bool = True
    recipients: Literal["accounts", "clients"] = "accounts"
    speed_up: PositiveFloat = 1.0
    sizes: Sizes = Field(default_factory=dict)
    script: Annotated[list[Script], Field(min_length=1, max_length=10)]

    @model_validator(mode="after")
    def _scripts(self) -> Self:
        names = [script.name for script in self.script]
        if len(set(names)) < len(names):
            raise ValueError(f"the scripts {', '.join(names)} need names of their own")
        if abs(sum(script.percent for script in self.script) - 100) > 1e-6:
            raise ValueError("the percents of the scripts must sum to 100: all clients together")
        if not self.sizes and any(script.needs_sizes for script in self.script):
            raise ValueError("a table [sizes] is missing: messages are sent or fetched")
        return self

    @property
    def what(self) -> Mapping[str, str]:
        return {script.name: script.what for script in self.script}

    @property
    def speaks(self) -> tuple[str, ...]:
        """A server of mail takes it by SMTP, too."""
        read = dict.fromkeys(script.protocol for script in self.script if script.protocol != "smtp")
        return tuple(protocol if self.tls else f"{protocol}-plain" for protocol in read) or ("imap",)

    def load_lines(self, clients: int, seed: int, think_ms: float | None, think: str | None) -> list[str]:
        if think_ms is not None or think is not None:
            raise UserError(
                f"workload {self.mix}: think_ms and think are of no use: its scripts say how long is waited"
            )
        return [f"seed={seed}", *self.login_lines(clients)]

    def login_lines(self, clients: int) -> list[str]:
        if clients < len(self.script):
            raise UserError(f"workload {self.mix}: {clients} clients are too few for {len(self.script)} scripts")
        shares = apportioned(clients, [script.percent for script in self.script])
        scripts = zip(self.script, shares, strict=True)
        lines = [line for one, share in scripts for line in one.lines(share, self.speed_up)]
        recipients = [] if self.recipients == "accounts" else [f"recipients={self.recipients}"]
        return [*_tls_line(self.tls), *recipients, *sizes_line(self.sizes), *lines]


PROTOCOLS: Mapping[str, type[Workload]] = {
    "imap": Imap,
    "pop3": Pop3,
    "web": Web,
    "jbb": Jbb,
    "rtp": Rtp,
    "route": Route,
    "probe": Probe,
    "scripts": Scripts,
}


def load_workload(name_or_path: str | Path, overrides: Mapping[str, object] | None = None) -> Workload:
    """The named profile, or the file at a path that ends in .toml, with overrides (`requests_max`: 10) over it;
    UserError names file, key and what is allowed."""
    path = Path(name_or_path)
    if path.suffix != ".toml":
        path = find("workload", paths.PROFILES, str(name_or_path))
    content = read_toml(path)
    protocol = str(content.get("protocol", "imap"))
    if protocol not in PROTOCOLS:
        raise UserError(f"{shown(path)}: key `protocol`: `{protocol}` is none: {hint(protocol, PROTOCOLS)}")
    return resolve(content, PROTOCOLS[protocol], shown(path), overrides)


def expected_mix(workload: Workload) -> dict[str, float]:
    """The share of each type (they sum to 1) that a long run draws: of Table 1, or the chain's stationary one; nothing
    of scripts, whose shares are what comes out."""
    if not isinstance(workload, Mix):
        return {}
    names = workload.transactions
    if workload.driver == "independent":
        share = np.array(workload.table1())
    else:
        rows = np.array([workload.transitions[name] for name in names])
        chain = rows / rows.sum(axis=1, keepdims=True)
        # share = share * chain and sum(share) = 1, solved as least squares
        size = len(names)
        equations = np.vstack([chain.T - np.eye(size), np.ones(size)])
        share = np.linalg.lstsq(equations, np.append(np.zeros(size), 1.0), rcond=None)[0]
    share = np.clip(share, 0.0, None)
    return {name: float(value) for name, value in zip(names, share / share.sum(), strict=True)}


def _load(workload: Workload | str, clients: int, users: int) -> Workload:
    """The profile, which so many clients can do; UserError where they cannot, before a guest is booted for them."""
    load = workload if isinstance(workload, Workload) else load_workload(workload)
    if clients > users and {"pop3", "pop3-plain"} & set(load.speaks):
        raise UserError(
            f"workload {load.mix}: {clients} clients are too many for {users} users: a POP3 mailbox is for one session "
            "at a time"
        )
    return load


def login_job_text(workload: Workload | str, clients: int, users: int) -> str:
    """The job of a ready guest: it logs the clients in, of whatever mix of the protocol they will be, and waits."""
    load = _load(workload, clients, users)
    lines = ["hold=1", f"protocol={load.protocol}", f"clients={clients}", f"users={users}", *load.login_lines(clients)]
    return "\n".join(lines) + "\n"


def job_text(
    workload: Workload | str,
    *,
    clients: int,
    users: int,
    seed: int,
    think_ms: float | None = None,
    think: str | None = None,
    warmup_s: float | None = None,
    measure_s: float | None = None,
    pace: Mapping[str, float] | None = None,
) -> str:
    """The job file for the load generator; None leaves think times to the profile, phases to the clock page and the
    guest's time to its kernel."""
    load = _load(workload, clients, users)
    lines = [
        f"protocol={load.protocol}",
        f"mix={load.mix}",
        f"clients={clients}",
        f"users={users}",
        *load.load_lines(clients, seed, think_ms, think),
        f"reply_timeout_s={number(load.reply_timeout_s)}",
    ]
    lines += [f"{key}={number(value)}" for key, value in (pace or {}).items()]
    phases = {"warmup_s": warmup_s, "measure_s": measure_s}
    lines += [f"{key}={number(value)}" for key, value in phases.items() if value is not None]
    return "\n".join(lines) + "\n"


def _tls_line(tls: bool) -> list[str]:
    """Of a job; none says that there is TLS."""
    return [] if tls else ["tls=0"]
