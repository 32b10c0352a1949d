# SPDX-License-Identifier: GPL-2.0-or-later
"""The files of a program's guest: the program, its libraries, what the user adds, and the job for the guest's first
process, in one file system image (erofs).

The same files give the same image: names, owners and times of the host do not enter it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath

from s80lab.base.errors import UserError
from s80lab.base.programs import system_environment
from s80lab.base.staging import full_sentence, nearly_full
from s80lab.exec.added import Added, AddedFiles, collision
from s80lab.exec.libraries import (
    Libraries,
    NotExecutableError,
    NotFoundError,
    Placed,
    interpreter_files,
    is_elf,
    is_interpreter,
    package_files,
)
from s80lab.exec.placing import COMMANDS, LINKS, WORK, Inside, add_skeleton, copy, left_out, link
from s80lab.exec.shape import RANGE
from s80lab.image.files import resolve

SYSTEM = ("/bin", "/sbin", "/lib", "/lib64", "/usr", "/opt", "/etc")
JOB, INPUT, ARCHIVE = ".s80lab/job", ".s80lab/stdin", ".s80lab/root.tar"
PATH = f"/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:{COMMANDS}"
TIME, UUID = "1767225600", "00000000-0000-0000-0000-000000000000"
MKFS = "mkfs.erofs"
LIMIT_S = 600
MOST_INTERPRETERS = 4


@dataclass(frozen=True)
class Wanted:
    """What is to run. words: the program and its arguments, as the user typed them. packages: installed Debian
    packages whose files go along. seed: 64 hexadecimal digits that the guest's random numbers follow. limit_ns:
    simulated time after which the guest ends the program; 0: none. warmups: executions before the measured one.
    begins, ends: whether the measured region begins at the program's start and ends at its end. setup: a command of the
    shell before all. background: a command of the shell that runs beside the program from before its
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
    begins: bool = True
    ends: bool = True
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
    folder or a tar archive with the rest. folders, links: paths of empty folders; targets of symbolic links. notes:
    sentences about added files that lack something. in_root: the program and its libraries, where root is a folder, by
    their paths without links."""

    files: Mapping[str, Path]
    command: Sequence[str]
    root: Path | None = None
    folders: Sequence[str] = ()
    links: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    in_root: Mapping[str, Path] = field(default_factory=dict)

    @property
    def readable(self) -> Mapping[str, Path]:
        """The files whose functions and variables can be named."""
        return {**self.in_root, **self.files}

    def real(self, path: str) -> str:
        """The path of one of these files without links."""
        return path if path in self.in_root else real_path(path)


def collect(wanted: Wanted) -> Tree:
    """The files for the program. UserError: the program, an interpreter or a library is missing or not for the
    guest."""
    added = AddedFiles.from_list(wanted.added)
    if wanted.root is not None:
        found = _program_in_root(wanted, wanted.root) if wanted.root.is_dir() else {}
        return Tree(added.files, wanted.words, wanted.root, added.folders, added.links, in_root=found)
    libraries = Libraries()
    program = find_program(wanted.words[0])
    command = [program.guest, *wanted.words[1:]]
    links = dict(added.links)
    real = program.host.resolve()
    # A program finds its libraries from its real place. /usr/bin/java is a link to elsewhere.
    if _of_system(program.guest) and _of_system(str(real)) and str(real) != real_path(program.guest):
        links[program.guest] = str(real)
        program = Placed(real, str(real))
    other = added.files.get(program.guest, program.host)
    if not other.samefile(program.host):
        raise UserError(collision(program.guest, program.host, other))
    files = {program.guest: program.host}
    notes: list[str] = []
    for file in _needed(program, libraries, notes):
        files[file.guest] = file.host
    if wanted.packages:
        files |= {file.guest: file.host for file in package_files(wanted.packages)}
    files |= added.files
    for guest, host in added.files.items():
        if not _is_program(host) or not is_elf(host):
            continue
        try:
            for file in _needed(Placed(host, guest), libraries, notes):
                files.setdefault(file.guest, file.host)
        except (NotFoundError, NotExecutableError) as error:  # a project folder may hold files that nothing executes
            notes.append(str(error))
    return Tree(files, command, None, added.folders, links, notes)


def find_program(word: str) -> Placed:
    """The program that a word of the command line means: a path if it has a slash, else the first in $PATH."""
    if not word:
        raise NotFoundError("the name of the program is empty: name a program")
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
    if not host.is_file():
        raise NotExecutableError(f"{word} is a device, a pipe or a socket: name a program")
    if not os.access(host, os.X_OK):
        raise NotExecutableError(f"{word} is not executable: chmod +x {word}")
    return Placed(host.resolve() if not _of_system(str(host)) else host, guest_path(host))


def guest_path(host: Path) -> str:
    """The guest's path of a file of the host: the same for a file of the system, else /work and the file's name."""
    absolute = os.path.normpath(host.absolute())
    return absolute if _of_system(absolute) else f"{WORK}/{host.name}"


@cache
def real_path(guest: str) -> str:
    """A path of the guest without the links of a merged /usr."""
    first, *rest = PurePosixPath(os.path.normpath(guest)).parts[1:]
    return "/" + "/".join([LINKS.get(first, first), *rest])


def _of_system(path: str) -> bool:
    return any(path.startswith(f"{folder}/") for folder in SYSTEM)


def _needed(program: Placed, libraries: Libraries, notes: list[str]) -> list[Placed]:
    """The files that a program or script needs beyond itself. notes: receives a sentence about files that an
    interpreter may lack."""
    found: list[Placed] = []
    for _ in range(MOST_INTERPRETERS):
        if is_elf(program.host):
            packages = interpreter_files(program.host)
            if not packages and is_interpreter(program.host):
                notes.append(
                    f"{program.host} is of no installed Debian package, so its own files do not come along: name the "
                    f"system's /usr/bin/{program.host.name}, or write --add FOLDER:/opt/NAME -- env /opt/NAME/bin/..."
                )
            programs = [file for file in packages if is_elf(file.host)]
            return [*found, *packages, *libraries.closure([program], programs)]
        program = _interpreter(program)
        found.append(program)
    raise NotExecutableError(f"{program.host}: interpreters of interpreters lead too deep: name an ELF program")


def _interpreter(script: Placed) -> Placed:
    """The program that a script names in its first line."""
    with script.host.open("rb") as file:
        first = file.readline(256)
    if not first.startswith(b"#!"):
        raise NotExecutableError(
            f"{script.host} is neither an ELF program nor a script with an interpreter in its first line (#!): name "
            "the program that executes it"
        )
    words = first[2:].decode("utf-8", "replace").split()
    if not words:
        raise NotExecutableError(f"{script.host}: the first line names no interpreter after #!")
    path = words[0]
    if PurePosixPath(path).name == "env" and len(words) > 1:
        name = next((word for word in words[1:] if not word.startswith("-") and "=" not in word), "")
        found = shutil.which(name) if name else None
        if found is None:
            raise NotFoundError(
                f"{script.host}: its interpreter {name or '(none)'} is not installed on this host: install it, or "
                "correct the first line"
            )
        return Placed(Path(found), guest_path(Path(found)))
    if not Path(path).is_file():
        raise NotFoundError(
            f"{script.host}: its interpreter {path} does not exist on this host: install it, or correct the first line"
        )
    return Placed(Path(path), path)


def _is_program(path: Path) -> bool:
    return os.access(path, os.X_OK)


def _program_in_root(wanted: Wanted, root: Path) -> dict[str, Path]:
    """The program and its libraries in a folder that is the guest's root. Empty if the folder has no ELF file of this
    name: the guest itself finds the program.

    NotFoundError or NotExecutableError: the program lacks a library, or is for another processor.
    """
    word = wanted.words[0]
    places = (
        [PurePosixPath(wanted.folder, word)] if "/" in word else [PurePosixPath(one, word) for one in PATH.split(":")]
    )
    for path in places:
        program = resolve(root, str(path))
        if program.is_file() and is_elf(program):
            libraries = Libraries(root).closure([Placed(program, str(path))])
            files = [program, *(resolve(root, one.guest) for one in libraries)]
            return {f"/{file.relative_to(root)}": file for file in files}
    return {}


def write_image(tree: Tree, wanted: Wanted, folder: Path) -> Path:
    """Write the file system image into the folder. Returns its path. UserError: a tool is missing or failed."""
    root = folder / "tree"
    _check_size(tree, wanted)
    if tree.root is not None and tree.root.is_dir():
        shutil.copytree(tree.root, root, symlinks=True, copy_function=link, ignore=left_out(str(tree.root)))
    inside = Inside(root)
    add_skeleton(inside)
    if tree.root is not None and tree.root.is_file():
        link(str(tree.root), str(root / ARCHIVE))
    for guest in tree.folders:
        inside.folder(guest)
    for guest, target in sorted(tree.links.items()):
        Path(inside.place(guest)).symlink_to(target)
    for guest, host in sorted(tree.files.items()):
        copy(host, inside.place(guest))
    if wanted.input is not None:
        shutil.copyfile(wanted.input, root / INPUT)
    (root / JOB).write_bytes(job(tree, wanted))
    image = folder / "files.erofs"
    command = [MKFS, "-T", TIME, "-U", UUID, "--all-root", "-x-1", "-E", "noinline_data", str(image), str(root)]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            env=system_environment(),
            check=False,
            timeout=LIMIT_S,
        )
    except FileNotFoundError:
        raise UserError(f"{MKFS} is not installed: apt-get install erofs-utils") from None
    except subprocess.TimeoutExpired:
        raise UserError(f"{MKFS} did not end within {LIMIT_S} s: hand over fewer files") from None
    if done.returncode:
        if nearly_full(folder):
            raise UserError(full_sentence(folder))
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
        *(str(int(wanted.begins)), str(int(wanted.ends)), str(wanted.warmups)),
        *(wanted.setup, wanted.background, wanted.ready),
        *(word for words in lists for word in (str(len(words)), *words)),
    ]
    if any("\0" in word for word in words):
        raise UserError("an argument or a variable contains a zero byte")
    return b"".join(os.fsencode(word) + b"\0" for word in words)


def _check_size(tree: Tree, wanted: Wanted) -> None:
    """UserError: the files are larger than the range of memory that takes them."""
    files = [*tree.files.values(), *(one for one in (wanted.input, tree.root) if one is not None and one.is_file())]
    if tree.root is not None and tree.root.is_dir():
        files += [path for path in tree.root.rglob("*") if path.is_file() and not path.is_symlink()]
    if (size := sum(path.stat().st_size for path in files)) > RANGE:
        largest = max(files, key=lambda path: path.stat().st_size)
        raise UserError(
            f"the program's files take {size / 1e9:.1f} GB, but at most {RANGE / 1e9:.1f} GB can be handed over: hand "
            f"over fewer files (the largest is {largest})"
        )
