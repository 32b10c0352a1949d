# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line: one module a group of commands, `cli` puts them together, `parts` has what several share.

At the top: may import everything, and nothing imports it.
"""
