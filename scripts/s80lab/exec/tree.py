# SPDX-License-Identifier: GPL-2.0-or-later
"""The files of a program's guest: the program, its libraries, what the user adds, and the job for the guest's first
process, in one file system image (erofs).

The same files give the same image: names, owners and times of the host do not enter it.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from s80lab.base.errors import UserError
from s80lab.exec.host_packages import interpreter_files, package_files
from s80lab.exec.libraries import Libraries, Placed, is_elf

WORK = "/work"
"""The guest's folder for programs and files that lie in no folder of the system; the program begins in it."""
SYSTEM = ("/bin", "/sbin", "/lib", "/lib64", "/usr", "/opt", "/etc")
COMMANDS = "/opt/busybox"
JOB, INPUT, ARCHIVE = ".s80lab/job", ".s80lab/stdin", ".s80lab/root.tar"
PATH = f"/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:{COMMANDS}"
FOLDERS = ("dev", "proc", "sys", "tmp", "run", "root", "etc", "usr/bin", "usr/lib/x86_64-linux-gnu", "var/tmp", "work",
           "opt/busybox", ".s80lab")  # fmt: skip
# Debian's merged /usr.
LINKS = {"bin": "usr/bin", "sbin": "usr/sbin", "lib": "usr/lib", "lib64": "usr/lib64"}
ACCOUNTS = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000:user:/work:/bin/sh\n"
    "nobody:x:65534:65534:nobody:/:/bin/false\n",
    "etc/group": "root:x:0:\nuser:x:1000:\nnogroup:x:65534:\n",
    "etc/hosts": "127.0.0.1 localhost s80\n::1 localhost\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\nservices: files\n",
}
TIME, UUID = "1767225600", "00000000-0000-0000-0000-000000000000"
MKFS = "mkfs.erofs"
LIMIT_S = 600
MOST_INTERPRETERS = 4


class NotFoundError(UserError):
    """There is no such program."""


class NotExecutableError(UserError):
    """The program cannot be executed."""


@dataclass(frozen=True)
class Added:
    """A file or folder that the user hands over."""

    host: Path
    guest: str


@dataclass(frozen=True)
class Wanted:
    """What is to run. words: the program and its arguments, as the user typed them. packages: installed Debian
    packages whose files go along. seed: 64 hexadecimal digits that the guest's random numbers follow. limit_ns:
    simulated time after which the guest ends the program; 0: none. warmups: executions before the measured one. setup:
    a command of the shell before all. background: a command of the shell that runs beside the program from before its
    start; ready: a TCP port or an absolute path at which it is awaited. files: paths that come back. input: the
    program's stdin. root: a folder, or a tar archive, that is the guest's root."""

    words: Sequence[str]
    added: Sequence[Added] = ()
    packages: Sequence[str] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    folder: str = WORK
    user: int = 0
    group: int = 0
    limit_ns: int = 0
    seed: str = "00" * 32
    region: str = "whole"
    warmups: int = 0
    setup: str = ""
    background: str = ""
    ready: str = ""
    files: Sequence[str] = ()
    input: Path | None = None
    root: Path | None = None


@dataclass(frozen=True)
class Tree:
    """The guest's files. files: the host's file of each path; command: the words that the guest executes; root: a
    folder or a tar archive with the rest."""

    files: Mapping[str, Path]
    command: Sequence[str]
    root: Path | None = None


def collect(wanted: Wanted) -> Tree:
    """The files for the program. UserError: the program, an interpreter or a library is missing or not for the
    guest."""
    if wanted.root is not None:
        return _in_root(wanted, wanted.root)
    libraries = Libraries()
    program = find_program(wanted.words[0])
    command = [program.guest, *wanted.words[1:]]
    files = {program.guest: program.host}
    for file in _needed(program, libraries):
        files[file.guest] = file.host
    if wanted.packages:
        files |= {file.guest: file.host for file in package_files(wanted.packages)}
    for guest, host in _expand(wanted.added):
        files[guest] = host
        if is_elf(host) and _is_program(host):
            for file in _needed(Placed(host, guest), libraries):
                files.setdefault(file.guest, file.host)
    return Tree(files, command)


def find_program(word: str) -> Placed:
    """The program that a word of the command line means: a path if it has a slash, else the first in $PATH."""
    host = Path(word) if "/" in word else Path(shutil.which(word) or "")
    if "/" not in word and host == Path():
        raise NotFoundError(
            f"{word}: no folder of $PATH has a program with this name; give its path, or for a program in this folder "
            f"./{word}"
        )
    if not host.exists():
        raise NotFoundError(f"{word}: no such file")
    if host.is_dir():
        raise NotExecutableError(f"{word} is a folder: name a program")
    if not os.access(host, os.X_OK):
        raise NotExecutableError(f"{word} is not executable: chmod +x {word}")
    return Placed(host.resolve() if not _of_system(str(host)) else host, guest_path(host))


def guest_path(host: Path) -> str:
    """The guest's path of a file of the host: the same for a file of the system, else /work and the file's name."""
    absolute = os.path.normpath(host.absolute())
    return absolute if _of_system(absolute) else f"{WORK}/{host.name}"


def real_path(guest: str) -> str:
    """A path of the guest without the links of a merged /usr."""
    first, *rest = PurePosixPath(os.path.normpath(guest)).parts[1:]
    return "/" + "/".join([LINKS.get(first, first), *rest])


def _of_system(path: str) -> bool:
    return any(path.startswith(f"{folder}/") for folder in SYSTEM)


def _needed(program: Placed, libraries: Libraries) -> list[Placed]:
    """The files that a program or script needs beyond itself."""
    found: list[Placed] = []
    for _ in range(MOST_INTERPRETERS):
        if is_elf(program.host):
            packages = interpreter_files(program.host)
            programs = [file for file in packages if is_elf(file.host)]
            return [*found, *packages, *libraries.closure([program, *programs])]
        program = _interpreter(program)
        found.append(program)
    raise UserError(f"{program.host}: interpreters of interpreters lead too deep")


def _interpreter(script: Placed) -> Placed:
    """The program that a script names in its first line."""
    with script.host.open("rb") as file:
        first = file.readline(256)
    if not first.startswith(b"#!"):
        raise UserError(
            f"{script.host} is neither an ELF program nor a script with an interpreter in its first line (#!): name "
            "the program that executes it"
        )
    words = first[2:].decode("utf-8", "replace").split()
    if not words:
        raise UserError(f"{script.host}: the first line names no interpreter after #!")
    path = words[0]
    if PurePosixPath(path).name == "env" and len(words) > 1:
        name = next((word for word in words[1:] if not word.startswith("-") and "=" not in word), "")
        found = shutil.which(name) if name else None
        if found is None:
            raise UserError(f"{script.host}: its interpreter {name or '(none)'} is not installed on this host")
        return Placed(Path(found), guest_path(Path(found)))
    if not Path(path).is_file():
        raise UserError(f"{script.host}: its interpreter {path} does not exist on this host")
    return Placed(Path(path), path)


def _is_program(path: Path) -> bool:
    return os.access(path, os.X_OK)


def _expand(added: Sequence[Added]) -> Iterator[tuple[str, Path]]:
    """All files that the user adds. Links are followed, so that nothing leads out of the guest."""
    for one in added:
        if one.host.is_file():
            yield one.guest, one.host
        elif one.host.is_dir():
            for folder, folders, names in os.walk(one.host, followlinks=False):
                folders.sort()
                for name in sorted(names):
                    path = Path(folder, name)
                    if path.is_file():
                        yield f"{one.guest}/{path.relative_to(one.host)}", path
        else:
            raise UserError(f"--add {one.host}: no such file or folder")


def _in_root(wanted: Wanted, root: Path) -> Tree:
    """With a root of the user's, the guest itself finds the program, and the program its libraries."""
    return Tree(dict(_expand(wanted.added)), wanted.words, root)


def write_image(tree: Tree, wanted: Wanted, folder: Path) -> Path:
    """Write the file system image into the folder. Returns its path. UserError: a tool is missing or failed."""
    root = folder / "tree"
    if tree.root is not None and tree.root.is_dir():
        shutil.copytree(tree.root, root, symlinks=True, copy_function=_link, ignore=_special)
    _add_skeleton(root)
    if tree.root is not None and tree.root.is_file():
        _link(str(tree.root), str(root / ARCHIVE))
    for guest, host in sorted(tree.files.items()):
        _place(root, guest, host)
    if wanted.input is not None:
        shutil.copyfile(wanted.input, root / INPUT)
    (root / JOB).write_bytes(job(tree, wanted))
    image = folder / "files.erofs"
    command = [MKFS, "-T", TIME, "-U", UUID, "--all-root", "-x-1", "-E", "noinline_data", str(image), str(root)]
    environment = os.environ | {"PATH": os.environ.get("PATH", "") + ":/usr/sbin:/sbin", "LC_ALL": "C.UTF-8"}
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=LIMIT_S)
    except FileNotFoundError:
        raise UserError(f"{MKFS} is not installed: apt-get install erofs-utils") from None
    except subprocess.TimeoutExpired:
        raise UserError(f"{MKFS} did not end within {LIMIT_S} s: hand over fewer files") from None
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
        raise UserError(f"{MKFS} could not write the guest's files: {lines[-1]}")
    shutil.rmtree(root)
    return image


def job(tree: Tree, wanted: Wanted) -> bytes:
    """The job in the form that the guest's first process reads (workloads/exec/init.c)."""
    variables = {"PATH": PATH, "HOME": "/root" if wanted.user == 0 else WORK, "LANG": "C", "TZ": "UTC0"}
    environment = [f"{name}={value}" for name, value in {**variables, **wanted.variables}.items()]
    lists = ([os.path.normpath(path) for path in wanted.files], tree.command, environment)
    words = [
        *(wanted.folder, str(wanted.user), str(wanted.group), str(wanted.limit_ns), wanted.seed),
        *(wanted.region, str(wanted.warmups)),
        *(wanted.setup, wanted.background, wanted.ready),
        *(word for words in lists for word in (str(len(words)), *words)),
    ]
    if any("\0" in word for word in words):
        raise UserError("an argument or a variable contains a zero byte")
    return b"".join(os.fsencode(word) + b"\0" for word in words)


def _add_skeleton(root: Path) -> None:
    """Folders, links and accounts that the guest needs, where the root has none of its own."""
    root.mkdir(exist_ok=True)
    for name, target in LINKS.items():
        if not os.path.lexists(root / name):
            (root / target).mkdir(parents=True, exist_ok=True)
            (root / name).symlink_to(target)
    for name in FOLDERS:
        if not os.path.lexists(root / name):
            (root / name).mkdir(parents=True)
    for name, content in ACCOUNTS.items():
        if not os.path.lexists(root / name):
            (root / name).write_text(content)
    shell = root / "usr/bin/sh"
    if not os.path.lexists(shell) and not os.path.lexists(root / "bin/sh"):
        shell.symlink_to(f"{COMMANDS}/sh")


def _link(source: str, target: str) -> str:
    """A hard link, or on another disk a copy."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)
    return target


def _special(folder: str, names: list[str]) -> set[str]:
    """Devices, sockets and pipes: the guest has its own."""
    kinds = (stat.S_ISREG, stat.S_ISDIR, stat.S_ISLNK)
    return {name for name in names if not any(kind(Path(folder, name).lstat().st_mode) for kind in kinds)}


def _place(root: Path, guest: str, host: Path) -> None:
    """Copy a file to its place; permissions that let every user read it, and execute it if its owner may."""
    parts = PurePosixPath(os.path.normpath(guest)).parts[1:]
    place = root.joinpath(*parts)
    place.parent.mkdir(parents=True, exist_ok=True)
    real = place.parent.resolve()
    if not real.is_relative_to(root.resolve()):
        raise UserError(f"{guest}: leads out of the guest's root")
    (real / place.name).unlink(missing_ok=True)  # of a root, it may be a link
    shutil.copyfile(host, real / place.name)
    executable = host.stat().st_mode & stat.S_IXUSR
    (real / place.name).chmod(0o755 if executable else 0o644)
