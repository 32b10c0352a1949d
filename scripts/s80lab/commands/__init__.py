# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line: one module per group of commands. `cli` registers them; `parts` holds what several commands share.

This is the top package: it may import every other package, and no other package imports it.
"""
