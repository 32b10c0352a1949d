# SPDX-License-Identifier: GPL-2.0-or-later
"""What the mail store builder writes is what a mail program expects: read back with Python's own mbox reader."""

from __future__ import annotations

import email.policy
import email.utils
import hashlib
import mailbox
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from s80lab.base.paths import BUILD

PROGRAM = BUILD / "bin" / "s80-mailstore"


def build(root: Path, *, users: int = 5, mailboxes: int = 6, kib: int = 256, seed: int = 1, form: str = "mbox") -> Path:
    root.mkdir()
    arguments = {"root": root, "users": users, "mailboxes": mailboxes, "mailbox-kib": kib, "seed": seed, "format": form}
    words = [word for key, value in arguments.items() for word in (f"--{key}", str(value))]
    subprocess.run([PROGRAM, *words], check=True, capture_output=True)
    return root


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("mailstore") / "store")


@pytest.fixture(scope="module")
def maildirs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("maildirs") / "store", form="maildir")


def files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_file())


def messages(root: Path) -> Iterator[mailbox.mboxMessage]:
    for path in files(root):
        yield from mailbox.mbox(path, create=False)


def digest(root: Path) -> str:
    result = hashlib.sha256()
    for path in files(root):
        result.update(str(path.relative_to(root)).encode() + path.read_bytes())
    return result.hexdigest()


def test_equal_arguments_give_equal_mail_store_bytes(store: Path, tmp_path: Path) -> None:
    assert digest(build(tmp_path / "again")) == digest(store)


def test_different_seed_gives_different_mail_store_bytes(store: Path, tmp_path: Path) -> None:
    assert digest(build(tmp_path / "other", seed=2)) != digest(store)


def test_sizes_are_those_of_the_study(store: Path) -> None:
    shares = {1062: 0.45, 2050: 0.38, 5321: 0.10, 34762: 0.05, 139602: 0.02}
    sizes = [len(message.as_bytes()) for message in messages(store)]
    nearest = Counter(min(shares, key=lambda size: abs(size - bytes_)) for bytes_ in sizes)
    for size, share in shares.items():
        assert nearest[size] / len(sizes) == pytest.approx(share, abs=0.02)


def test_messages_are_well_formed(store: Path) -> None:
    count = 0
    for message in messages(store):
        count += 1
        parsed = email.message_from_bytes(message.as_bytes(), policy=email.policy.default)
        assert not parsed.defects
        assert not [part.defects for part in parsed.walk() if part.defects]
        for name in ("From", "To", "Subject", "Date", "Message-ID", "Received"):
            assert parsed[name]
        assert email.utils.parsedate_to_datetime(str(parsed["Date"])).year in (2025, 2026)
        if parsed.is_multipart():
            assert {part.get_content_maintype() for part in parsed.iter_parts()} <= {"text", "application"}
            for part in parsed.iter_attachments():
                assert len(part.get_content()) > 0
    assert count > 1000


def test_from_lines_all_begin_a_message(store: Path) -> None:
    """Text lines that begin with "From " are quoted, so mbox readers of every kind agree on the number of messages."""
    for path in files(store):
        data = path.read_bytes()
        from_lines = data.count(b"\nFrom ") + data.startswith(b"From ")
        assert from_lines == data.count(b"\nX-UID: ")
        assert len(mailbox.mbox(path, create=False)) == from_lines


def test_uids_count_up_from_one(store: Path) -> None:
    box = list(mailbox.mbox(store / "user001" / "inbox", create=False))
    assert [int(message["X-UID"]) for message in box] == list(range(1, len(box) + 1))
    assert box[0]["X-IMAPbase"].split()[1] == f"{len(box):010}"


def bare(message: mailbox.mboxMessage) -> bytes:
    """The message without what a server keeps in an mbox file."""
    for name in ("X-IMAPbase", "X-UID", "Status", "X-Keywords"):
        del message[name]
    return message.as_bytes()


def test_maildirs_hold_the_same_messages(store: Path, maildirs: Path) -> None:
    """In the order of their files' names; read by Python's own reader."""
    for user in sorted(path.name for path in store.iterdir()):
        boxes = {"": store / user / "inbox", **{path.name: path for path in (store / user / "mail").iterdir()}}
        folders = mailbox.Maildir(maildirs / user / "Maildir", create=False)
        assert sorted(folders.list_folders()) == sorted(name for name in boxes if name)
        for name, path in boxes.items():
            folder = folders.get_folder(name) if name else folders
            mine = [folder.get_message(key) for key in sorted(folder.keys())]
            theirs = list(mailbox.mbox(path, create=False))
            assert ["S" in one.get_flags() for one in mine] == ["R" in one.get_flags() for one in theirs]
            assert [one.as_bytes() for one in mine] == [bare(one) for one in theirs]


def test_maildir_file_name_and_time_match_the_message(maildirs: Path) -> None:
    for path in files(maildirs):
        name, content = path.name.removesuffix("S"), path.read_bytes()
        size, lines = len(content), content.count(b"\n")
        assert name.endswith(f",S={size},W={size + lines}:2,")
        assert path.stat().st_mtime == int(name.partition(".")[0])


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--format", "mh"], "--format must be mbox, maildir or imap, not 'mh'"),
        (["--users", "0"], "--users must be a number from 1 to 9999, not '0'"),
        (["--mailbox-kib", "1MB"], "--mailbox-kib must be a number"),
        (["--colour", "red"], "unknown option --colour"),
        (["--seed"], "--seed needs a value"),
        ([], "are needed"),
    ],
)
def test_bad_arguments_are_named(words: list[str], reason: str) -> None:
    result = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert reason in result.stderr
