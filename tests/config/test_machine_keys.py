# SPDX-License-Identifier: GPL-2.0-or-later
"""The declarations of machine keys: one list, in C++. The package has its copy, and machine files only what differs."""

from __future__ import annotations

import hashlib
import subprocess
import tomllib

import pytest

from s80lab.base import paths
from s80lab.base.strict import find
from s80lab.commands.pages import KEYS_PAGE, machine_keys_page
from s80lab.config.machine import KEYS, KEYS_FILE, TABLES, load_machine

# Of the resolved files: checkpoints, captures and results name a machine by it.
HASHES = {
    "classroom": "a26aba14c09cdf316a54a577c3d140b45a63afe17d5bd205a051473126c69f2b",
    "classroom-groups": "8fc3e3a711478708c9b6b68f742a3aa4bec08a990cdb3feaeaab59939c7d4719",
    "classroom-llc": "4025691b055f6125fb1a950142399812abde28d39a1b238d6e10afd919a2d12d",
    "desktop-8": "8b797cc88ec82bafb56b36a82a914dfd4ef5011b785aecf5f89a5b0ee18cc7cf",
    "e6500": "d7f28daf80d4ae6778a38ba89a9269ec2137dfc8b734725754f8772c64c48d4c",
    "p4-2ghz": "17c5e7d47f44b14dff1d1ee4b0225a9badf7917a4b2636da09d1c59b0348839e",
    "p4-2ghz-clients": "46c1be13605dd45c9ceb25d4b7af48792a12724facccbc3c2565ff4c37e1c67f",
    "pe4600": "0b8052b74d104cafc298aca3eb1a05d7131f0eae9c0387c8fb31068b229e7996",
    "pe4600-ht": "9fda5350332c7de1de174a5f184a93774ee70bf7561bf3b0209a87de0a1aed48",
    "s80": "d63f0ea17005c744be352b3fa3a0dcda6867189685c9a456a3eb4cd58a60c14e",
    "s80-sixteenth": "c38e9af41478b8a6ca6fc56650ae58e8286b17b04d1ae085959991f3ae0897a3",
    "s80-sixteenth-4": "0a4fa6e184eeab8b7c95fa67d8e0d73a0a7d17c268c3eff269b14cb49c5c1819",
    "server-16": "8b0070de18fa1210a6186c0fe75d187c30d02dfe780777f10dec53bd4697f091",
    "z900-lpar2": "297fce0702c62e166a8372a0c83d7ef96ecc274aeea1a9ccb00ebdaad153670f",
}


def test_committed_declarations_are_those_of_the_program() -> None:
    done = subprocess.run([paths.BIN / "s80-step", "machine-keys"], check=True, capture_output=True, text=True)
    assert KEYS_FILE.read_text(encoding="utf-8") == done.stdout


@pytest.mark.parametrize("name", HASHES)
def test_resolved_machine_file_is_unchanged(name: str) -> None:
    assert hashlib.sha256(load_machine(name).resolved().encode()).hexdigest() == HASHES[name]


@pytest.mark.parametrize("name", HASHES)
def test_machine_file_has_only_values_that_differ_from_the_defaults(name: str) -> None:
    content = tomllib.loads(find("machine", paths.MACHINES, name).read_text(encoding="utf-8"))
    for key, declared in KEYS.items():
        table, _, word = key.rpartition(".")
        given = (content.get(table, {}) if table else content).get(word)
        assert given is None or given != declared.get("default"), key


def test_declared_keys_say_what_they_mean() -> None:
    for key, declared in KEYS.items():
        assert declared["text"] and not declared["text"].endswith("."), key
    assert all(table["text"] for name, table in TABLES.items() if name)


def test_page_of_machine_keys_is_current() -> None:
    """`python -m s80lab.commands.pages` writes it."""
    assert KEYS_PAGE.read_text(encoding="utf-8") == machine_keys_page()
