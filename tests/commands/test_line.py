# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line: help, examples, completion, wrong names, and what a short command imports."""

from __future__ import annotations

import inspect
import os
import pty
import shlex
import signal
import subprocess
import sys
import termios
import typing
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from tests.lab import LIMIT_S, Lab
from typer.main import get_command

from s80lab.base.suggest import closest, hint, names
from s80lab.capture.error import TABLE
from s80lab.commands.line import complete, maintain, traces
from s80lab.commands.line.app import SECTIONS, app, declarations
from s80lab.commands.line.declare import HEADINGS, Declaration
from s80lab.config.experiment import DEFAULT_SERVER
from s80lab.experiment.precision import SHARES, USUAL
from s80lab.protocol.proof import CACHES
from s80lab.trace import source

COLUMNS, SCREEN = 80, 24
DECLARED = {declaration.name: declaration for declaration in declarations()}
EXAMPLES = [example for declaration in DECLARED.values() for example in declaration.examples]


@pytest.fixture
def empty(tmp_path: Path) -> Lab:
    """A laboratory in which nothing has been built or measured."""
    return Lab(tmp_path / "checkpoints", tmp_path / "results")


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """All commands and groups, by their words."""
    yield " ".join(path), command
    for name, part in getattr(command, "commands", {}).items():
        yield from commands(part, (*path, name))


@pytest.mark.parametrize("declaration", DECLARED.values(), ids=DECLARED)
def test_work_gets_the_declared_arguments(declaration: Declaration) -> None:
    first, *further = typing.get_type_hints(declaration.worker()).items()
    assert first[1] is declaration.arguments
    assert {name for name, _ in further} == {*declaration.settled, "return"}


def test_default_is_the_constant_of_the_library() -> None:
    def default(command: str, parameter: str) -> object:
        return next(one.default for one in fields(DECLARED[command].arguments) if one.name == parameter)

    assert default("run", "shares") == USUAL
    assert default("image build", "server") == DEFAULT_SERVER
    assert default("protocol check", "caches") == CACHES
    assert sorted(traces.FORMATS) == sorted(source.FORMS)
    assert tuple(SHARES) == complete.SHARES
    assert str(TABLE).endswith("results/reference/filter-error.json")
    assert "results/reference/filter-error.json" in inspect.getsource(maintain)


@pytest.mark.parametrize("example", EXAMPLES)
def test_example_is_accepted_by_the_parser(example: str) -> None:
    words = shlex.split(example.partition(" > ")[0])
    if words[0] == "make":
        return
    assert words.pop(0) == "s80lab"
    command: Any = get_command(app)
    context = command.make_context("s80lab", words, resilient_parsing=False)
    while hasattr(command, "commands"):
        name, command, rest = command.resolve_command(context, [*context._protected_args, *context.args])
        context = command.make_context(name, rest, parent=context)


def test_commands_have_two_examples_of_their_own() -> None:
    for name, declaration in DECLARED.items():
        assert len(set(declaration.examples)) == 2
        assert declaration.examples[0].startswith(f"s80lab {name}")


@pytest.mark.parametrize("path", [path for path, _ in commands(get_command(app))])
def test_help_fits_in_80_columns_without_types_of_python(empty: Lab, path: str) -> None:
    text = empty.answer(*path.split(), "--help")
    assert [line for line in text.splitlines() if len(line) > COLUMNS] == []
    assert not {"<bool>", "<str>", "<int>", "list[", "TEXT", "{"} & set(text.split())


@pytest.mark.parametrize(
    "path",
    ["run", "capture", "explore", "reproduce", "knockout", "bench", "image build", "checkpoint build"],
)
def test_help_of_a_long_command_states_its_costs_before_the_options(empty: Lab, path: str) -> None:
    text = empty.answer(*path.split(), "--help")
    _, _, costs = text.partition("\nOptions:\n")[0].partition("\nCosts: ")
    costs = costs.partition("\n\n")[0]
    assert ("minutes" in costs or "seconds" in costs or "hour" in costs or "longer" in costs) and "B of disk" in costs


def test_help_has_the_examples_before_the_options_and_rare_options_last(empty: Lab) -> None:
    text = empty.answer("run", "--help")
    places = [text.index(words) for words in ("Run experiments", "Examples:", "Options:", "Further options:", "--gem5")]
    assert places == sorted(places)


def test_first_steps_are_on_the_last_screen_of_the_first_page(empty: Lab) -> None:
    screen = "\n".join(empty.answer("--help").splitlines()[-SCREEN + 1 :])
    assert "First steps:" in screen and "s80lab doctor" in screen and "s80lab lesson" in screen


def test_first_page_lists_each_command_in_one_line_under_its_heading(empty: Lab) -> None:
    text = empty.answer("--help")
    lines = text.splitlines()
    assert [line[:-1] for line in lines if line.endswith(":") and line != "Options:"] == [*HEADINGS, "First steps"]
    assert [section.title for section in SECTIONS] == list(HEADINGS)
    for name, command in commands(get_command(app)):
        if not name or " " in name:
            continue
        listed = [line for line in lines if line.split()[:1] == [name]]
        assert len(listed) == (0 if command.hidden else 1), name
        assert all(line.endswith(".") for line in listed)


def test_commands_for_maintainers_are_not_listed(empty: Lab) -> None:
    assert {name for name, one in DECLARED.items() if one.hidden} == {"reference keep", "filter-error", "protocol docs"}
    assert "docs" not in empty.answer("protocol", "--help")
    assert "For maintainers" in empty.answer("claims", "--help")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("s80lab r", {"run", "report", "replay", "reproduce", "reference"}),
        ("s80lab trace ", {"step", "export", "import", "info"}),
        ("s80lab run imap", {"imapb", "imape"}),
        ("s80lab run imapb --protocol me", {"mesi", "mesif", "mesi-llc", "mesif-snoop-filter"}),
        ("s80lab run imapb --machine p4", {"p4-2ghz", "p4-2ghz-clients"}),
        ("s80lab run imapb --scale s", {"small", "sixteenth"}),
        ("s80lab run imapb --server ngi", {"nginx"}),
        ("s80lab run imapb --engine ", {"qemu", "gem5"}),
        ("s80lab protocol show mos", {"mosi"}),
        ("s80lab lesson false", {"false-sharing"}),
        ("s80lab misses imapb-", {"imapb-tiny-s1-0"}),
        ("s80lab checkpoint export warm", {"warm-imapb"}),
        ("s80lab captures export ", {"imapb-capture"}),
        ("s80lab replay imapb", {"imapb-capture"}),
        ("s80lab run imapb --drop", {"--drop-warm"}),
        ("s80lab reproduce figure1", {"figure1", "figure1-disk", "figure10"}),
        ("s80lab run imapb --set l2.s", {"l2.size="}),
        ("s80lab run imapb --set scale.u", {"scale.users="}),
        ("s80lab replay imapb --set scale.u", set()),
        (
            "s80lab explore imapb --vary pro",
            {"protocol=", "processors.count=", "processors.threads_per_core=", "processors.clock_hz="},
        ),
        ("s80lab run imapb --of memory,e", {"memory,e", "memory,e-to-m"}),
        ("s80lab run imapb --image b", {"buildroot"}),
        ("s80lab run imapb --seeds ", {"1", "1,2,3"}),
        ("s80lab batch --slurm r", {"run"}),
    ],
)
def test_completion_offers_names(empty: Lab, words: str, expected: set[str]) -> None:
    (empty.results / "runs" / "imapb-tiny-s1-0").mkdir(parents=True)
    for store, name in ((empty.checkpoints, "warm-imapb"), (empty.captures, "imapb-capture")):
        store.mkdir()
        (store / f"{name}.json").write_text("not even JSON: completion reads no file")
    environment = empty.environment() | {
        "_S80LAB_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-m", "s80lab"], env=environment, capture_output=True, text=True, timeout=LIMIT_S
    )
    assert (set(done.stdout.split()), done.stderr) == (expected, "")


@pytest.mark.parametrize(
    ("arguments", "environment", "heavy"),
    [
        (["--version"], {}, ["typer", "pydantic", "rich", "numpy", "jinja2", "sqlite3"]),
        (["--help"], {}, ["pydantic", "rich", "numpy", "jinja2", "sqlite3"]),
        (["run", "--help"], {}, ["rich", "numpy", "jinja2", "sqlite3"]),
        (["list"], {}, ["rich", "numpy", "jinja2", "matplotlib"]),
        (
            [],
            {"_S80LAB_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "s80lab run im"},
            ["rich.console", "numpy", "jinja2", "sqlite3"],
        ),
    ],
)
def test_short_command_imports_only_what_it_needs(
    empty: Lab, arguments: list[str], environment: dict[str, str], heavy: list[str]
) -> None:
    code = (
        "import atexit, sys\n"
        f"atexit.register(lambda: print([name for name in {heavy} if sys.modules.get(name)], file=sys.stderr))\n"
        f"sys.argv = ['s80lab', *{arguments}]\n"
        "from s80lab.commands.cli import main\n"
        "main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=empty.environment() | environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert (done.returncode, done.stderr) == (0, "[]\n")


@pytest.mark.parametrize(
    "module", ["s80lab.base.errors", "typer", "s80lab.base.suggest", "pydantic", "numpy", "s80lab.commands.line.errors"]
)
@pytest.mark.parametrize("ends", [signal.SIGINT, signal.SIGTERM])
def test_signal_during_imports_prints_no_traceback(empty: Lab, module: str, ends: signal.Signals) -> None:
    # The process signals itself when the import of the module begins. s80lab.commands.line.errors is imported after
    # the command has failed, to report the error.
    code = (
        "import os, sys\n"
        "class Ends:\n"
        "    def find_spec(self, name, path, target=None):\n"
        f"        if name == '{module}':\n"
        "            print('signalled', file=sys.stderr)\n"
        f"            os.kill(os.getpid(), {int(ends)})\n"
        "sys.meta_path.insert(0, Ends())\n"
        "sys.argv = ['s80lab', 'report', 'imapb']\n"
        "from s80lab.commands.cli import main\n"
        "main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=empty.environment(),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert done.returncode in (-ends, 130)
    assert done.stderr == "signalled\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["rnu"], "there is no command `s80lab rnu` (did you mean run?)"),
        (["trace", "stp"], "there is no command `s80lab trace stp` (did you mean step?)"),
        (["run", "imapb", "--machne", "s80"], "run: there is no option `--machne` (did you mean --machine?)"),
        (["run"], "run: EXPERIMENT is missing: write `s80lab run [OPTIONS] EXPERIMENT...`"),
        (["run", "imapb", "--seeds"], "the option --seeds needs a value"),
        (["run", "imapb", "--jobs", "x"], "run: --jobs x: write a whole number of at least 0"),
        (["model", "latency", "--bi", "3GB"], "--bi 3GB: write a number of MB/s without the unit, for example 3200"),
        (["protocol", "check", "msi", "--caches", "9"], "--caches 9: write a whole number of at least 2 and at most 6"),
        (["run", "imapb", "--engine", "gem"], "run: --engine gem: did you mean gem5? (allowed are gem5, qemu)"),
        (
            ["trace", "export", "a", "--out", "b"],
            "the option --format is missing: write `s80lab trace export [OPTIONS] --format FORMAT --out PATH TRACE`",
        ),
        (["trace", "export"], "trace export: TRACE, the option --format, the option --out are missing: write `s80lab"),
        (
            ["query", "SELECT", "id"],
            "query: `id` is more than the command takes: put the whole SQL text into quotation",
        ),
        (["doctor", "paper"], "doctor: `paper` is more than the command takes: write `--scale paper`"),
        (["image", "build", "dovecot"], "write `--server dovecot`"),
        (["captures", "prune", "a"], "`s80lab captures remove NAME` removes one capture"),
        (["checkpoint", "list", "a", "b"], "`a b` is more than the command takes: write `s80lab checkpoint list [OPT"),
        (["version"], "there is no command `s80lab version` (did you mean --version?)"),
        (["-x"], "s80lab: there is no option `-x`; `s80lab --help` describes the command"),
        (["report", "imabp"], "there is no experiment `imabp` in configs/experiments: did you mean imapb?"),
        (["captures", "import", "no-such-folder"], "no-such-folder: there is no such folder; name an export"),
        (["captures", "import", "README.md"], "README.md: is neither a folder nor a .tar file; name an export"),
        (["collect", "README.md"], "README.md: is a file, not a folder; name a folder with runs"),
        (["bench", "imapz"], "there is no experiment `imapz`"),
        (["misses", "imapb"], "/runs: make one with `s80lab run imapb --misses`"),
        (["trace", "export", "a", "--out", "b", "--format", "dinn"], "--format dinn: there is no such trace format"),
        (["protocol", "show", "MOESI"], ": did you mean moesi?"),
        (["run", "imap"], ": did you mean imapb?"),
        (["run", "imapb", "--seeds", "1-3"], "separated by commas, for example 1,2,3"),
        (["run", "imapb", "--boots", "1-3"], "--boots 1-3: write whole numbers separated by commas, for example 1,2,3"),
        (
            ["run", "imapb", "--boots", "2,2"],
            "a boot is given twice; write each boot once, because each boot is one run",
        ),
        (["knockout", "imapb", "--boots", "1-3"], "--boots 1-3: write whole numbers separated by commas"),
        (["run", "imapb", "--boots", "0"], "--boots 0: write whole numbers from 1 to"),
        (["run", "imapb", "--boots", "2", "--until", "2%"], "--boots cannot be combined with --until; omit one"),
        (["run", "imapb", "--set", "l2.ways=33"], "key `l2.ways`: `33` is not allowed; write a number of at most 32"),
        (["run", "imapb", "--set", "l2.size=2MiB,4MiB"], "use `s80lab explore CAPTURE --vary KEY=VALUES`, or [sweep]"),
        (
            ["run", "imapb", "--set", "l2.inclusion=inclusiv"],
            "`inclusiv` is not one of its values; did you mean inclusive? (allowed are exclusive, exclusive-textbook, "
            "inclusive, inclusive-gem5)",
        ),
        (["report", "imapb", "--scale", "tiny"], "first make the run with `s80lab run imapb --scale tiny`"),
        (["report", "imapb", "--server", "uw", "--seeds", "1,2"], "`s80lab run imapb --seeds 1,2 --server uw`"),
    ],
)
def test_mistake_is_one_sentence_with_the_remedy(empty: Lab, arguments: list[str], sentence: str) -> None:
    said = empty.call(*arguments, code=2)
    assert said.startswith("s80lab: ") and said.count("\n") == 1
    assert sentence in said
    assert "Input should" not in said and "Value error" not in said


@pytest.mark.parametrize("words", [["-h"], ["help"], ["run", "-h"], ["help", "run"], ["help", "trace", "step"]])
def test_short_and_old_spellings_of_help_print_the_help(empty: Lab, words: list[str]) -> None:
    command = [word for word in words if word not in ("-h", "help")]
    assert empty.answer(*words) == empty.answer(*command, "--help")


def test_error_on_a_terminal_of_80_columns_breaks_no_word_and_no_command(empty: Lab) -> None:
    terminal, side = pty.openpty()
    termios.tcsetwinsize(side, (SCREEN, COLUMNS))
    environment = {name: value for name, value in empty.environment().items() if name != "COLUMNS"}
    done = subprocess.run(
        [sys.executable, "-m", "s80lab", "report", "imapb", "--server", "uw", "--seeds", "1,2"],
        env=environment,
        stdin=subprocess.DEVNULL,
        stderr=side,
        timeout=LIMIT_S,
    )
    os.close(side)
    lines = os.read(terminal, 1 << 16).decode().split("\r\n")
    os.close(terminal)
    assert done.returncode == 2 and len(lines) > 3
    assert " ".join(lines).strip() == empty.call("report", "imapb", "--server", "uw", "--seeds", "1,2", code=2).strip()
    assert [line for line in lines if len(line) > COLUMNS and " " in line] == []
    assert [line for line in lines if line.count("`") % 2] == []


def test_group_without_command_prints_its_help(empty: Lab) -> None:
    assert "Usage: s80lab trace [OPTIONS] COMMAND" in empty.call("trace", code=2)
    assert "Usage: s80lab [OPTIONS] COMMAND" in empty.call(code=2)


def test_version_needs_no_command(empty: Lab) -> None:
    assert empty.answer("--version").startswith("s80lab ")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *(("MOESI", "moesi"), ("imap", "imapb"), ("fetch", "ifetch"), ("small", "small"), ("xyz", None)),
        *(("imabp", "imapb"), ("iampe", "imape"), ("version", None)),
    ],
)
def test_closest_finds_case_swaps_beginnings_and_parts(name: str, expected: str | None) -> None:
    assert closest(name, ["moesi", "mesi", "imapb", "imape", "ifetch", "store", "small", "lesson"]) == expected


def test_hint_of_many_names_lists_the_nearest() -> None:
    many = [f"name{number:02}-7" for number in range(50)]
    assert hint("xyz", many) == "50 are allowed"
    assert hint("nam-7-xy", many).startswith("50 are allowed, the nearest: name")
    assert hint("nmae07-7", many) == "did you mean name07-7?"


def test_names_are_those_of_files(tmp_path: Path) -> None:
    (tmp_path / "b.toml").write_text("")
    (tmp_path / "a.toml").write_text("")
    (tmp_path / "a.txt").write_text("")
    assert names(tmp_path) == ["a", "b"]
