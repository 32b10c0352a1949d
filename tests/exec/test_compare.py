# SPDX-License-Identifier: GPL-2.0-or-later
"""Comparisons of programs: the conditions of --fail-if, and two forms of one program in the guest."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.exec.conftest import Exec
from tests.forked import command
from tests.lab import LIMIT_S

from s80lab.base.errors import UserError
from s80lab.exec.compare import names, parse_condition

SHARING = """
#include <pthread.h>
struct own { SPACE long hits; } own[2];
static void* add(void* p) {
    struct own* mine = p;
    for (int i = 0; i < 100000; ++i) __atomic_fetch_add(&mine->hits, 1, __ATOMIC_RELAXED);
    return p;
}
int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; ++i) pthread_create(&t[i], 0, add, &own[i]);
    for (int i = 0; i < 2; ++i) pthread_join(t[i], 0);
    return 0;
}
"""


@pytest.mark.parametrize("text", ["transfers > +5%", "user.upgrades<-10.5 %", "kernel.cycles > 0%"])
def test_condition_is_a_count_a_comparison_and_a_change(text: str) -> None:
    assert parse_condition(text).name in names()


@pytest.mark.parametrize("text", ["", "transfers", "transfers > 5", "transfers >= 5%", "losses > 5%", "user. > 5%"])
def test_malformed_condition_is_refused_with_the_names_of_the_counts(text: str) -> None:
    with pytest.raises(UserError, match=r"user\.transfers"):
        parse_condition(text)


@pytest.mark.guest
def test_compare_names_the_field_that_moved(execute: Exec, compiled: Callable[..., Path]) -> None:
    for name, space in (("close", ""), ("apart", "_Alignas(64)")):
        program = compiled(SHARING, "-g", "-O2", f"-DSPACE={space}", name=name)
        assert execute("--name", name, "--seeds", "1,2,3", "--", str(program)).code == 0

    def compare(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command(("compare", *words)),
            cwd=execute.folder,
            env=execute.lab.environment(),
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )

    done = compare("close", "apart", "--json", "--fail-if", "user.transfers > +5%")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    rows = {row["name"]: row for row in found["rows"]}
    assert rows["user.transfers"]["verdict"] == "lower"
    assert rows["user.transfers"]["half_width"] > 0
    assert {one["name"] for one in found["fields"][:2]} == {"own[0].hits", "own[1].hits"}
    assert found["functions"][0]["name"] == "close: add"
    back = compare("apart", "close", "--fail-if", "user.transfers > +5%")
    assert back.returncode == 1
    assert "user.transfers > +5% holds" in back.stderr
    assert "own[0].hits" in back.stdout
