# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line: the names, arguments, options, help and completion of all commands.

The modules of this package import only typer and light modules of s80lab, so that help and completion are fast. A
function of this package declares one command. The module that does the work is imported when the command runs.
"""
