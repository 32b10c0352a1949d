# SPDX-License-Identifier: GPL-2.0-or-later
"""A Slurm of the test's own: controller and nodes on this host, everything in one folder, nothing of the system's.

Nodes are processes (`slurmd -N`), each with one core, on ports that are free when they start. Users are believed
(auth/none): it listens on the loopback alone and lives as long as a test.
"""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.lab import LIMIT_S

PROGRAMS = ("slurmctld", "slurmd", "sbatch", "squeue", "scontrol")
CONFIGURATION = """\
ClusterName=lab
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
AuthType=auth/none
CredType=cred/none
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
ReturnToService=2
SlurmdTimeout=20
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
NODE = "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1 RealMemory=64000"


def missing() -> list[str]:
    """The programs that Debian's slurm-wlm would bring and that are not here."""
    return [name for name in PROGRAMS if shutil.which(name, path=_path()) is None]


def _path() -> str:
    """Daemons lie where a user's PATH does not look."""
    return f"{os.environ['PATH']}:/usr/sbin:/sbin"


@dataclass
class Slurm:
    """A running one. folder: of its configuration, state and logs."""

    folder: Path
    nodes: tuple[str, ...]
    daemons: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        return os.environ | {"SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": _path()}

    def program(self, name: str) -> str:
        """Where one of Slurm's lies."""
        found = shutil.which(name, path=_path())
        assert found
        return found

    def call(self, *command: str, **more: str) -> str:
        """What one of Slurm's commands says."""
        done = subprocess.run(
            command, env=self.environment() | more, capture_output=True, text=True, timeout=LIMIT_S, cwd=self.folder
        )
        assert done.returncode == 0, done.stdout + done.stderr + self.logs()
        return done.stdout

    def submit(self, script: str, *options: str) -> str:
        """Number of the job; its output goes to out-<task> in the folder."""
        file = self.folder / "job.sh"
        file.write_text(script)
        output = ("--output", str(self.folder / "out-%a"))
        return self.call("sbatch", "--parsable", *output, *options, str(file)).strip()

    def queue(self, *states: str) -> list[str]:
        """Jobs and tasks that have not ended, as `17_3`; of these states, where any are given."""
        of = ("--states", ",".join(states)) if states else ()
        return self.call("squeue", "--noheader", "--array", "--format=%i", *of).split()

    def work_off(self) -> None:
        """Back when the queue is empty. What was queued again begins at once: Slurm would leave it two minutes, lest
        what it sends to end the lost one reaches the new one; so a task may have been ended twice, and not be done."""

        def fewer() -> bool:
            for task in self.queue("PENDING"):
                self._said(["scontrol", "update", f"JobId={task}", "StartTime=now"])
            return len(self.queue()) < there

        while there := len(self.queue()):
            self.until(fewer, "a task to end")

    def terminate(self, task: str) -> None:
        """As a minute before the limit, to the script alone."""
        self._said(["scancel", "--batch", "--signal=TERM", task])

    def start_node(self, name: str) -> None:
        self._start(name, "slurmd", "-D", "-N", name)

    def power_cut(self, name: str) -> None:
        """The node's daemon and all that runs there are gone until the controller has seen it; then it comes back."""
        self.crash_node(name)
        state = ["sinfo", "--noheader", "--Node", f"--nodes={name}", "--format=%T"]
        self.until(lambda: self._said(state).startswith("down"), f"{name} to be missed")
        self.start_node(name)

    def crash_node(self, name: str) -> None:
        self.daemons.pop(name).kill()
        for process in _of_node(self.folder, name):
            with suppress(ProcessLookupError):  # a process of the node may end between the listing and the signal
                os.kill(process, signal.SIGKILL)

    def start(self) -> None:
        """The controller, then the nodes; back when all are idle."""
        self._start("controller", "slurmctld", "-D", "-c")
        for name in self.nodes:
            self.start_node(name)
        command = ["sinfo", "--noheader", "--Node", "--format=%T"]
        self.until(lambda: self._said(command).split() == ["idle"] * len(self.nodes), "all nodes to be idle")

    def _said(self, command: list[str]) -> str:
        """Also where the answer is that nobody is there yet, or any more."""
        return subprocess.run(command, env=self.environment(), capture_output=True, text=True, timeout=LIMIT_S).stdout

    def until(self, condition: object, what: str) -> None:
        assert callable(condition)
        deadline = time.monotonic() + LIMIT_S
        while not condition():
            assert time.monotonic() < deadline, f"waited {LIMIT_S} s for {what}\n{self.logs()}"
            dead = [name for name, daemon in self.daemons.items() if daemon.poll() is not None]
            assert not dead, f"{dead} ended\n{self.logs()}"
            time.sleep(0.2)

    def said(self) -> str:
        """All that the tasks have said."""
        return "".join(file.read_text() for file in sorted(self.folder.glob("out-*")))

    def logs(self) -> str:
        """The last lines of every log and of every task."""
        files = [*sorted(self.folder.glob("*.log")), *sorted(self.folder.glob("out-*"))]
        return "\n".join(f"{file.name}:\n" + "\n".join(file.read_text().splitlines()[-8:]) for file in files)

    def _start(self, name: str, *command: str) -> None:
        with (self.folder / f"{name}.said").open("ab") as said:
            self.daemons[name] = subprocess.Popen(
                command, env=self.environment(), cwd=self.folder, stdin=subprocess.DEVNULL, stdout=said, stderr=said
            )

    def stop(self) -> None:
        """Everything that it has started."""
        for name in self.nodes:
            if name in self.daemons:
                self.crash_node(name)
        for daemon in self.daemons.values():
            daemon.kill()
            daemon.wait()


@contextmanager
def slurm(folder: Path, nodes: tuple[str, ...] = ("n1", "n2")) -> Iterator[Slurm]:
    """A Slurm with these nodes as long as the block."""
    host = socket.gethostname().split(".")[0]
    (folder / "state").mkdir(parents=True)
    controller, *ports = free_ports(1 + len(nodes))
    lines = []
    for name, port in zip(nodes, ports, strict=True):
        (folder / name).mkdir()
        lines.append(NODE.format(name=name, host=host, port=port))
    (folder / "slurm.conf").write_text(
        CONFIGURATION.format(
            host=host, controller=controller, user=getpass.getuser(), folder=folder, nodes="\n".join(lines)
        )
    )
    # Read even where nothing is tracked by control groups.
    (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n")
    running = Slurm(folder, nodes)
    try:
        running.start()
        yield running
    finally:
        running.stop()


def free_ports(count: int) -> list[int]:
    """Of the loopback, all unlike."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def _of_node(folder: Path, name: str) -> list[int]:
    """Processes of jobs on the node, and Slurm's own above them."""
    found = []
    marks = {f"SLURMD_NODENAME={name}".encode(), f"SLURM_CONF={folder}/slurm.conf".encode()}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if marks <= set((entry / "environ").read_bytes().split(b"\0")):
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                if Path(f"/proc/{parent}/comm").read_text().strip() == "slurmstepd":
                    found.append(parent)
                found.append(int(entry.name))
        except (OSError, ValueError):
            continue
    return found
