# SPDX-License-Identifier: GPL-2.0-or-later
"""Server files: what a chain of them has, and how a wrong one is refused."""

from __future__ import annotations

import tomllib
from hashlib import sha256
from pathlib import Path

import pytest

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.config.server import START, load_server, server_names


@pytest.fixture
def servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of servers with one, `plain`."""
    monkeypatch.setattr(paths, "SERVERS", tmp_path)
    put(tmp_path, "plain", 'packages = ["one"]\nkeep = ["bin/one"]\nstore = "mbox"\nsession = ["one"]', START, "etc/a")
    return tmp_path


def put(folder: Path, name: str, text: str, *files: str) -> None:
    (folder / f"{name}.toml").write_text(f'description = "{name}"\n{text}\n')
    for file in files:
        path = folder / name / "rootfs" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


def test_shipped_servers_are_complete() -> None:
    assert {"dovecot", "uw"} <= set(server_names())
    assert not {"opensmtpd", "webstore"} & set(server_names())
    for name in server_names():
        server = load_server(name)
        classes = tomllib.loads(server.classes())
        assert classes["loadgen"] == ["s80-loadgen"]
        assert ("smtpd" in classes["delivery"]) == (server.store != "none")
        assert classes["session"]


def test_server_inherits_from_its_base(servers: Path) -> None:
    put(servers, "other", 'base = "plain"\nkeep = ["bin/two"]\nsession = ["one", "two"]', "etc/a", "etc/b")
    server = load_server("other")
    assert (server.name, server.packages, server.packages_of, server.store) == ("other", ["one"], "plain", "mbox")
    assert list(server.keep) == ["bin/one", "bin/two"]
    assert server.keep["bin/two"].endswith("other.toml")
    assert {name: file.content.decode() for name, file in server.files().items()} == {
        START: "plain",
        "etc/a": "other",
        "etc/b": "other",
    }
    assert tomllib.loads(server.classes())["session"] == ["one", "two"]


def test_texts_of_a_server_replace_files_of_its_base(servers: Path) -> None:
    put(servers, "other", 'base = "plain"\n[files]\n"etc/a" = "one"\n"etc/b" = """\ntwo\n"""', "etc/a")
    files = load_server("other").files()
    assert {name: file.content for name, file in files.items()} == {
        START: b"plain",
        "etc/a": b"other",
        "etc/b": b"two\n",
    }
    assert not files["etc/b"].executable and files["etc/b"].sha256 == sha256(b"two\n").hexdigest()


def test_server_serves_its_stated_protocols(servers: Path) -> None:
    assert load_server("plain").serves == ["imap"]
    put(servers, "other", 'base = "plain"\nserves = ["imap", "pop3"]')
    put(servers, "third", 'base = "other"')
    assert load_server("third").serves == ["imap", "pop3"]


def test_packages_of_its_own_are_recorded_apart(servers: Path) -> None:
    put(servers, "other", 'base = "plain"\npackages = ["two"]\nstore = "maildir"')
    server = load_server("other")
    assert (server.packages, server.packages_of, server.store) == (["one", "two"], "other", "maildir")


@pytest.mark.parametrize(
    ("text", "files", "reason"),
    [
        (
            'store = "mbox"',
            (),
            r"wrong\.toml: this server cannot run alone, because its rootfs has no usr/lib/s80lab/server\.sh",
        ),
        ("", (START,), r"wrong\.toml: the key `store` is missing"),
        ('base = "wrong"', (START,), r"wrong\.toml: key `base`: the bases form a cycle: wrong -> wrong"),
        (
            'base = "plan"',
            (),
            r"wrong\.toml: key `base`: there is no server `plan` to use as base: .*did you mean plain\?",
        ),
        ('session = ["longer than a name"]', (START,), r"wrong\.toml: key `session\.0`: .*at most 15 characters"),
        ("users = { root = 0 }", (START,), r"wrong\.toml: key `users\.root`"),
        ('store = "mh"', (START,), r"wrong\.toml: key `store`: .*allowed are imap, maildir, mbox, none"),
    ],
)
def test_malformed_server_file_is_refused_in_one_sentence(
    servers: Path, text: str, files: tuple[str, ...], reason: str
) -> None:
    put(servers, "wrong", text, *files)
    with pytest.raises(UserError, match=reason):
        load_server("wrong")
