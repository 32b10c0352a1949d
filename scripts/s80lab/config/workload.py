# SPDX-License-Identifier: GPL-2.0-or-later
"""Workload profiles (workloads/profiles): the protocol, the mix of transactions, and the resulting job file.

Job format: docs/reference/interfaces/job.md. Mixes: Koka and Lipasti, Tables 1 and 2, in percent.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.numbers import COUNTED, Count, CountOrZero, NonNegative, Positive
from s80lab.base.strict import Size, Strict, find, read_toml, resolve, short_path
from s80lab.base.suggest import hint
from s80lab.config.mix import Mix, Workload, number
from s80lab.config.script import Script, Sizes, apportioned, sizes_line


class Thresholds(Strict):
    """Bounds that transactions must keep: mailboxes per user, and messages per mailbox."""

    mailboxes_min: Count
    mailboxes_max: Count
    messages_min: CountOrZero
    messages_max: Count

    @model_validator(mode="after")
    def _order(self) -> Self:
        if self.mailboxes_min > self.mailboxes_max:
            raise ValueError(f"mailboxes_min = {self.mailboxes_min} is above mailboxes_max = {self.mailboxes_max}")
        if self.messages_min > self.messages_max:
            raise ValueError(f"messages_min = {self.messages_min} is above messages_max = {self.messages_max}")
        return self


def _header_fetch(value: object) -> object:
    if value in ("range", "each") or (type(value) is int and 1 <= value <= COUNTED):
        return value
    raise ValueError(f'`{value}` is not allowed: it must be "range", "each" or a whole number from 1 to {COUNTED}')


class Imap(Mix):
    """Users of an IMAP server who stay logged in for the complete load.

    incoming_per_s: messages per second from the external mail server, for all users together.
    move: how messages are moved; `auto` uses MOVE if the server offers it.
    header_fetch: how SELT fetches headers: `range` with one FETCH, `each` with one FETCH per message, a number N with
        one FETCH per N messages.
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
    incoming_per_s: NonNegative
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
    """Users who check for mail from time to time, with one session each time.

    incoming_per_s: messages per second from the external mail server, for all users together.
    retrieve_max: maximum number of messages that a session retrieves.
    delete_percent: share of the retrieved messages that a session deletes.
    messages_max: an INBOX with this number of messages receives no more mail.
    """

    WHAT: ClassVar = {
        "CHCK": "Log in, see what mail there is, log out",
        "RETR": "Log in, retrieve the new mail, delete some of it, log out",
        "SEND": "Send a message to a random user",
    }
    SUBSTITUTED = "because no new mail was there to be retrieved"

    protocol: Literal["pop3"]
    driver: Literal["chain", "independent"] = "independent"
    incoming_per_s: NonNegative
    retrieve_max: Count
    delete_percent: Annotated[float, Field(ge=0, le=100)]
    messages_max: Count

    def own_lines(self) -> list[str]:
        return [
            f"messages_max={self.messages_max}",
            f"incoming_per_s={number(self.incoming_per_s)}",
            f"retrieve_max={self.retrieve_max}",
            f"delete_percent={number(self.delete_percent)}",
        ]


class Web(Mix):
    """Users of a web server.

    tls: whether connections use TLS; servers without TLS have only static files.
    requests_max: maximum number of requests per connection; the average is half of it.
    """

    WHAT: ClassVar = {"FILE": "Get a static file", "PAGE": "Get a page that a program generates"}

    protocol: Literal["web"]
    tls: bool = True
    driver: Literal["chain", "independent"] = "independent"
    requests_max: Count

    @model_validator(mode="after")
    def _files_alone(self) -> Self:
        if not self.tls and self.mix_percent["PAGE"]:
            raise ValueError("mix_percent.PAGE needs tls = true: servers without TLS have only static files")
        return self

    @property
    def speaks(self) -> tuple[str, ...]:
        return ("web",) if self.tls else ("web-plain",)

    def own_lines(self) -> list[str]:
        return [*_tls_line(self.tls), f"requests_max={self.requests_max}"]

    def login_lines(self, clients: int) -> list[str]:
        return [*_tls_line(self.tls), *super().login_lines(clients)]


class Jbb(Mix):
    """Clients of a warehouse server, one client per warehouse.

    batch: number of times that the server repeats the work of a request, so that the single-threaded load generator can
        keep all processors busy.
    """

    WHAT: ClassVar = {
        "NEWO": "Order items",
        "PAYM": "Pay",
        "ORDS": "Look up the latest order of a customer",
        "DLVR": "Deliver the oldest orders of all districts",
        "STCK": "Count the items of a district whose stock is low",
        "CUST": "Write a report about a customer",
    }

    protocol: Literal["jbb"]
    driver: Literal["chain", "independent"] = "independent"
    batch: Count = 200

    def own_lines(self) -> list[str]:
        return [f"batch={self.batch}"]


PACKET_MS = 20
"""Duration of one packet of a medium in milliseconds (workloads/media)."""


class Rtp(Mix):
    """Clients of a streaming server.

    media: `unique`: all clients play the first user's medium; `multiple`: each client plays its account's medium.
    rate_kbps: data rate of the media.
    play_ms: length of one playback in simulated time, from a random position of the medium.
    late_ms: delay of a packet that counts as an error, relative to the schedule of the stream's first packet.
    """

    WHAT: ClassVar = {"PLAY": "Play a part of a medium"}

    protocol: Literal["rtp"]
    driver: Literal["chain", "independent"] = "independent"
    media: Literal["unique", "multiple"]
    rate_kbps: Annotated[int, Field(gt=0, le=COUNTED, multiple_of=2)]
    play_ms: Annotated[int, Field(gt=0, le=COUNTED, multiple_of=PACKET_MS)]
    late_ms: Positive

    def own_lines(self) -> list[str]:
        return [
            f"media={self.media}",
            f"rate_kbps={self.rate_kbps}",
            f"play_ms={self.play_ms}",
            f"late_ms={number(self.late_ms)}",
        ]


class Route(Mix):
    """Clients on one side of a router, each with a connection to a sink on the other side.

    message_bytes: size of a message with its header.
    """

    WHAT: ClassVar = {
        "SEND": "Send a message and receive an acknowledgement",
        "SWAP": "Send a message and receive one of the same size",
    }

    protocol: Literal["route"]
    driver: Literal["chain", "independent"] = "independent"
    message_bytes: Annotated[int, Field(ge=16, le=65536)]

    def own_lines(self) -> list[str]:
        return [f"message_bytes={self.message_bytes}"]


class Probe(Mix):
    """Probes that measure the cost of memory accesses and context switches.

    working_set: bytes, a power of two. COPY copies one half to the other; PASS and KEEP walk through it per process.
    stride: bytes from one accessed word to the next, a power of two.
    batch: words that a COPY copies, or number of times that PASS and KEEP hand the token over.
    """

    WHAT: ClassVar = {
        "COPY": "Copy memory word by word",
        "PASS": "Two processes pass a token to each other, with a context switch each time, and then access their "
        "memory",
        "KEEP": "One process passes the token to itself, without a context switch, and accesses its memory "
        "equally often",
    }

    protocol: Literal["probe"]
    driver: Literal["chain", "independent"] = "independent"
    working_set: Annotated[Size, Field(ge=4096, le=64 << 20)]
    stride: Annotated[Size, Field(ge=4, le=4096)]
    batch: Count

    @model_validator(mode="after")
    def _whole(self) -> Self:
        for key in ("working_set", "stride"):
            if getattr(self, key).bit_count() != 1:
                raise ValueError(f"{key} = {getattr(self, key)} must be a power of two")
        words = self.working_set // 8
        if self.mix_percent["COPY"] > 0 and self.batch % words:
            raise ValueError(
                f"batch = {self.batch} words must be a multiple of {words}, the words that COPY copies in one "
                "pass through the working set"
            )
        if self.mix_percent["PASS"] > 0 and self.batch % 2:
            raise ValueError(
                f"batch = {self.batch} must be even for PASS, because the two processes get the token equally often"
            )
        return self

    def own_lines(self) -> list[str]:
        return [f"working_set={self.working_set}", f"stride={self.stride}", f"batch={self.batch}"]


class Scripts(Workload):
    """Clients that follow scripts. Each script is a transaction type (docs/guides/client-scripts.md).

    tls: whether connections that read mail use TLS.
    recipients: `accounts`: mail goes to any account; `clients`: only to accounts of clients.
    speed_up: factor that divides waits, think times and ramps, and multiplies rates.
    sizes: sizes of sent messages in bytes, with their percent.
    script: the scripts.
    """

    protocol: Literal["scripts"]
    tls: bool = True
    recipients: Literal["accounts", "clients"] = "accounts"
    speed_up: Positive = 1.0
    sizes: Sizes = Field(default_factory=dict)
    script: Annotated[list[Script], Field(min_length=1, max_length=10)]

    @model_validator(mode="after")
    def _scripts(self) -> Self:
        names = [script.name for script in self.script]
        if len(set(names)) < len(names):
            raise ValueError(f"the scripts {', '.join(names)} must have different names")
        if abs(sum(script.percent for script in self.script) - 100) > 1e-6:
            raise ValueError("the keys `percent` of all scripts must sum to 100")
        if not self.sizes and any(script.needs_sizes for script in self.script):
            raise ValueError("the table [sizes] is missing: the scripts send or fetch messages")
        return self

    @property
    def what(self) -> Mapping[str, str]:
        return {script.name: script.what for script in self.script}

    @property
    def speaks(self) -> tuple[str, ...]:
        """The protocols that the server must serve, without SMTP, by which every mail server accepts mail."""
        read = dict.fromkeys(script.protocol for script in self.script if script.protocol != "smtp")
        return tuple(protocol if self.tls else f"{protocol}-plain" for protocol in read) or ("imap",)

    def load_lines(self, clients: int, seed: int, think_ms: float | None, think: str | None) -> list[str]:
        if think_ms is not None or think is not None:
            raise UserError(
                f"workload {self.mix}: omit think_ms and think, because the scripts of this workload contain "
                "the waiting times"
            )
        return [f"seed={seed}", *self.login_lines(clients)]

    def login_lines(self, clients: int) -> list[str]:
        if clients < len(self.script):
            raise UserError(
                f"workload {self.mix}: {clients} clients are too few for {len(self.script)} scripts: use at "
                "least one client per script"
            )
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
    """Read a profile by its name or by the path of a .toml file, with overrides such as `requests_max`: 10.

    UserError names the file, the key and the allowed values.
    """
    path = Path(name_or_path)
    if path.suffix != ".toml":
        path = find("workload", paths.PROFILES, str(name_or_path))
    content = read_toml(path)
    protocol = str(content.get("protocol", "imap"))
    if protocol not in PROTOCOLS:
        raise UserError(f"{short_path(path)}: key `protocol`: `{protocol}` is unknown: {hint(protocol, PROTOCOLS)}")
    return resolve(content, PROTOCOLS[protocol], short_path(path), overrides)


def expected_mix(workload: Workload) -> dict[str, float]:
    """The share of each transaction type in a long run; the shares sum to 1.

    They come from Table 1, or are the stationary shares of the chain. Scripts have no expected shares.
    """
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
    """Read the profile. UserError if this number of clients cannot run it, so that no guest is booted in vain."""
    load = workload if isinstance(workload, Workload) else load_workload(workload)
    if clients > users and {"pop3", "pop3-plain"} & set(load.speaks):
        raise UserError(
            f"workload {load.mix}: {clients} clients are too many for {users} users, because a POP3 mailbox "
            "allows one session at a time: use fewer clients or a scale with more users"
        )
    return load


def login_job_text(workload: Workload | str, clients: int, users: int) -> str:
    """The job for a ready guest: log the clients in and wait. It does not depend on the mix of the protocol."""
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
    clock_shift: int = 0,
) -> str:
    """The job file for the load generator.

    workload: a profile or its name.
    clients, users, seed: number of clients, number of mail users, and the seed of all random draws.
    think_ms, think: think times; None for the profile's.
    warmup_s, measure_s: lengths of the phases in seconds; None if the plugin ends them.
    clock_shift: 2^clock_shift seconds of the guest's clock are one simulated second (Machine.clock_shift).
    """
    load = _load(workload, clients, users)
    lines = [
        f"protocol={load.protocol}",
        f"mix={load.mix}",
        f"clients={clients}",
        f"users={users}",
        *load.load_lines(clients, seed, think_ms, think),
        f"reply_timeout_s={number(load.reply_timeout_s)}",
    ]
    lines += [f"clock_shift={clock_shift}"] if clock_shift else []
    phases = {"warmup_s": warmup_s, "measure_s": measure_s}
    lines += [f"{key}={number(value)}" for key, value in phases.items() if value is not None]
    return "\n".join(lines) + "\n"


def _tls_line(tls: bool) -> list[str]:
    """The line of a job that switches TLS off; none with TLS."""
    return [] if tls else ["tls=0"]
