# SPDX-License-Identifier: GPL-2.0-or-later
"""Identities that the statistics of every run must satisfy.

    check_run(run_dir: Path) -> list[str]
        Checks snapshots.jsonl and transactions.json of one run folder over the whole run, the
        measured region and every window; returns the names of the identities that were checked.
        Raises IdentityBroken (a UserError) with the identity's name and both numbers.
"""
