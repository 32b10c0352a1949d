# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments of programs: the file that `s80lab exec --save` writes, and the commands that take it."""

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
from s80lab.config.program import Program, Saved, load_saved, saved_text

SHARING = """
#include <pthread.h>
static struct { long one; SPACE long other; } counts;
static void* add(void* p) {
    for (int i = 0; i < 100000; ++i) __atomic_fetch_add((long*)p, 1, __ATOMIC_RELAXED);
    return p;
}
int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], 0, add, &counts.one);
    pthread_create(&t[1], 0, add, &counts.other);
    for (int i = 0; i < 2; ++i) pthread_join(t[i], 0);
    return 0;
}
"""


def test_file_holds_every_option(tmp_path: Path) -> None:
    program = Program(
        words=["/opt/a program", "--flag", "ä\t\"quoted\" \\ 'line\n'"],
        add=["/data:/work/data"],
        host_packages="perl",
        folder="/tmp",
        variables=["A=1"],
        run_as="user",
        begin="libz.so.1:deflate",
        end="main",
        simulated_timeout=2.5,
        misses=False,
        warmup=3,
        order="reference",
    )
    saved = Saved(
        description="a",
        protocol="mesi",
        settings={"l2.size": "2MiB", "clock.epoch_cycles": 5000},
        boots=[1, 2],
        sweep={"l2.ways": [4, 8]},
        program=program,
    )
    path = tmp_path / "before.toml"
    path.write_text(saved_text(path, saved), encoding="utf-8")
    assert load_saved(path) == saved


@pytest.mark.parametrize("word", ["\0", "\udce4"])
def test_text_that_no_file_can_hold_is_refused(word: str) -> None:
    with pytest.raises(UserError, match=r"--save before\.toml"):
        saved_text(Path("before.toml"), Saved(description="a", program=Program(words=["a", word])))


@pytest.mark.parametrize("name", ["before", ".toml", "a b.toml"])
def test_name_that_cannot_name_runs_is_refused(name: str) -> None:
    with pytest.raises(UserError, match=r"before\.toml"):
        saved_text(Path(name), Saved(description="a", program=Program(words=["a"])))


def test_name_of_another_experiment_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "imapb.toml"
    path.write_text('description = "a"\n[program]\ncommand = ["true"]\n')
    with pytest.raises(UserError, match="rename the file"):
        load_saved(path)


@pytest.mark.guest
def test_commands_take_the_saved_program(execute: Exec, compiled: Callable[..., Path]) -> None:
    def call(*words: str, code: int = 0, path: Path = execute.folder) -> str:
        done = subprocess.run(
            command(words),
            cwd=path,
            env=execute.lab.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    for name, space in (("close", ""), ("apart", "_Alignas(64)")):
        compiled(SHARING, "-g", "-O2", f"-DSPACE={space}", name=name)
        call("exec", "--name", name, "--save", f"{name}.toml", "--per", "add", "--", f"./{name}")
    assert "right (program close: ./close on desktop-8, 1 run)" in call("check", "close.toml")
    assert "1 run to do, 0 complete" in call("estimate", "close.toml")

    elsewhere = execute.folder / "elsewhere"
    elsewhere.mkdir()
    file = str(execute.folder / "close.toml")
    (found,) = json.loads(call("run", file, "--json", path=elsewhere))
    run = execute.lab.results / "runs" / found["runs"][0]
    live = execute.result("close") / "boot-1-seed-1"
    assert (run / "snapshots.jsonl").read_bytes() == (live / "snapshots.jsonl").read_bytes()
    assert found["report"]["contention"] == json.loads((live / "report.json").read_text())["contention"]
    assert "1 run to do" not in call("estimate", file)
    entered = json.loads(call("query", "select engine, scale, clients, status from run", "--format", "json"))
    assert entered == [{"engine": "exec", "scale": "-", "clients": None, "status": "valid"}]
    assert "from cold caches" in call("report", file)

    points = json.loads(call("sweep", file, "--vary", "l2.size=64KiB,1MiB", "--json"))
    misses = {one["design"]: one["report"]["counts"]["all"]["misses"]["memory"] for one in points}
    assert misses["l2.size 64KiB"] > misses["l2.size 1MiB"]
    said = call("sweep", file, "--vary", "l2.size=64KiB,1MiB")
    assert "l2.size 1MiB" in said
    assert said.endswith("reports/close/report.html\n")
    table = (execute.lab.results / "reports" / "close" / "sweep.md").read_text()
    assert {line.split(" | ")[0] for line in table.splitlines()} >= {"| l2.size 64KiB", "| l2.size 1MiB"}
    assert "throughput" not in table

    differ = ("compare", "close.toml", "apart.toml", "--run", "--seeds", "1,2,3")
    moved = json.loads(call(*differ, "--json", "--fail-if", "user.transfers > +5%"))
    rows = {row["name"]: row for row in moved["rows"]}
    assert rows["user.transfers"]["verdict"] == "lower"
    assert rows["user.transfers"]["half_width"] > 0
    assert {one["name"] for one in moved["fields"][:2]} == {"counts.one", "counts.other"}
    call(*("compare", "apart.toml", "close.toml", "--seeds", "1,2,3", "--fail-if", "user.transfers > +5%"), code=1)
    faster = call("compare", "close.toml", "--set", "latency.cache=30", "--run")
    assert "close.toml --set latency.cache=30" in faster

    listed = json.loads(call("run", file, "--seeds", "1,2,3", "--list", "--json"))
    assert (listed["of"], listed["complete"]) == (3, 3)
    assert "--shard" in call("batch", "--slurm", "run", file)


@pytest.mark.guest
def test_full_capture_replays_the_run_exactly(execute: Exec, compiled: Callable[..., Path]) -> None:
    program = compiled(SHARING, "-O2", "-DSPACE=", name="close")
    assert execute("--save", "close.toml", "--no-misses", "--", str(program)).code == 0
    lab = execute.lab
    file = str(execute.folder / "close.toml")
    said = lab.call("capture", file, "--form", "both")
    assert "the replay equals the live run byte for byte" in said
    assert "recorded region: valid" in said
    name = said.partition("capture: ")[2].split()[0]
    replayed = json.loads(lab.answer("replay", name, "--form", "full", "--json"))["runs"]
    assert {run["experiment"] for run in replayed} == {"close"}
    assert "mesi" in lab.call("explore", name, "--vary", "protocol=moesi,mesi")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "none.toml"), "none.toml: is not an experiment of a program"),
        (("run", "own.toml", "imapb"), "is a program and imapb is not"),
        (("run", "own.toml", "--scale", "tiny"), "--scale does not apply to a program"),
        (("run", "own.toml", "--server", "nginx"), "--server does not apply to a program"),
        (("sweep", "own.toml", "--vary", "l2.ways=3,x"), "l2.ways"),
        (("capture", "own.toml", "--instructions", "5"), "--instructions does not apply to a program"),
        (("run", "lost.toml"), "no such file"),
        (("run", "wrong.toml"), "unknown key `program.cmd`"),
    ],
)
def test_mistakes_get_one_sentence(tmp_path: Path, words: tuple[str, ...], said: str, execute: Exec) -> None:
    (tmp_path / "own.toml").write_text('description = "a"\n[program]\ncommand = ["/bin/true"]\n')
    (tmp_path / "lost.toml").write_text('description = "a"\n[program]\ncommand = ["/lost/program"]\n')
    (tmp_path / "wrong.toml").write_text('description = "a"\n[program]\ncmd = ["/bin/true"]\n')
    done = subprocess.run(
        command(words), cwd=tmp_path, env=execute.lab.environment(), capture_output=True, text=True, timeout=LIMIT_S
    )
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 2
