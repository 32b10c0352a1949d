# SPDX-License-Identifier: GPL-2.0-or-later
"""The process of the command line: version, signals, errors and exit codes. s80lab.commands.line declares the commands.

An error that the user can fix is printed as one sentence on stderr, and the exit code is 2 (of `exec`: 125). A command
whose runs are complete but not all valid ends with run_tables.INVALID.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator

from s80lab.base.version import __version__


def main() -> None:
    """Run the command line. SIGTERM, which batch systems send, has the effect of Ctrl-C."""
    try:
        if sys.argv[1:] == ["--version"]:  # needs no import
            print(f"s80lab {__version__}")
            return
        code = _run_and_report()
    except KeyboardInterrupt:
        code = 130
    # From here on a signal ends the process without a message. Python's own handler would print a traceback.
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is signal.default_int_handler:
            signal.signal(number, signal.SIG_DFL)
    sys.exit(code)


def _run_and_report() -> int:
    """Run the command and report its error, if any; return the exit code."""
    try:
        return _run()
    except Exception as error:
        return _report(error)


def _run() -> int:
    """Run the command that the command line names; return the exit code."""
    from s80lab.commands.process import ended_by_signals, speak_utf8

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    speak_utf8()
    if "_S80LAB_COMPLETE" in os.environ:
        # Typer removes rich's markup from descriptions. Ours have no markup, and rich takes half of the time.
        sys.modules["rich"] = None  # type: ignore[assignment]
    with ended_by_signals():
        from typer.main import get_command

        from s80lab.commands.line.app import app

        command = get_command(app)
    words = sys.argv[1:]
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    code = command.main(args=words, prog_name="s80lab", standalone_mode=False)
    return code if isinstance(code, int) else 0


def _report(error: Exception) -> int:
    """Print one sentence per error that the user can fix; raise the error again if it is a defect of s80lab."""
    import typer

    from s80lab.base.terminal import say
    from s80lab.commands.line.errors import is_help, sentence
    from s80lab.commands.process import EXEC_FAILED, sentence_of

    if isinstance(error, typer.Abort):
        return 1
    if is_help(error):
        print(error, file=sys.stderr)
        return 2
    messages = {
        text: None
        for leaf in leaves(error)
        if (text := sentence(leaf) if isinstance(leaf, typer.TyperException) else sentence_of(leaf))
    }
    if not messages:
        raise error
    for message in messages:
        say(f"s80lab: {message}")
    return EXEC_FAILED if sys.argv[1:2] == ["exec"] else 2


def leaves(error: BaseException) -> Iterator[BaseException]:
    """The single errors in an exception group, or the error itself."""
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            yield from leaves(part)
    else:
        yield error


if __name__ == "__main__":
    main()
