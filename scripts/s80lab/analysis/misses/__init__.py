# SPDX-License-Identifier: GPL-2.0-or-later
"""Attributed misses of a run: for each miss its function, the data behind its address, and how the line was shared."""
