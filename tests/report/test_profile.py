# SPDX-License-Identifier: GPL-2.0-or-later
"""The profile's tables: shares of the sessions' own user code, as the paper tells its server's."""

from __future__ import annotations

from s80lab.analysis.profile import Sample, collapsed
from s80lab.report.profile import profile_tables

SAMPLES = [
    Sample("imap", "session", "user", "libdovecot.so.0: i_stream_read", 60),
    Sample("imap", "session", "user", "libdovecot.so.0: message_parse", 20),
    Sample("imap-login", "session", "user", "libcrypto.so.3: aes_gcm", 20),
    Sample("imap", "session", "system_call", "copy_user_generic", 30),
    Sample("s80-loadgen", "loadgen", "user", "s80-loadgen: main", 10),
    Sample("swapper/1", "idle", "idle", "default_idle", 500),
]


def shares(title: str) -> dict[str, str]:
    (table,) = [table for table in profile_tables(SAMPLES) if table.title == title]
    return {row.label: row.cells[0].text for row in table.rows}


def test_session_functions_are_sorted_by_share() -> None:
    assert list(shares("User code of the sessions, by function").items()) == [
        ("libdovecot.so.0: i_stream_read", "60.0%"),
        ("libcrypto.so.3: aes_gcm", "20.0%"),
        ("libdovecot.so.0: message_parse", "20.0%"),
    ]


def test_tls_is_named() -> None:
    assert shares("User code of the sessions, by program and library") == {
        "libdovecot.so.0": "80.0%",
        "libcrypto.so.3 (TLS)": "20.0%",
    }


def test_idling_is_no_work() -> None:
    assert shares("All work, by process") == {
        "imap, user": "57.1%",
        "imap, kernel": "21.4%",
        "imap-login, user": "14.3%",
        "s80-loadgen, user": "7.1%",
    }
    assert shares("Kernel code without the idle loop, by function") == {"copy_user_generic": "100.0%"}


def test_small_profile_rows_are_summed() -> None:
    many = [Sample("imap", "session", "user", f"imap: f{number:02d}", 40 - number) for number in range(35)]
    table = profile_tables(many)[0]
    assert len(table.rows) == 31 and table.rows[-1].label == "5 others"
    assert table.rows[-1].cells[1].text == str(10 + 9 + 8 + 7 + 6)


def test_stacks_for_flame_graphs() -> None:
    assert "imap;system_call;copy_user_generic 30\n" in collapsed(SAMPLES)
