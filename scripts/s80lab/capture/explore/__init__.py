# SPDX-License-Identifier: GPL-2.0-or-later
"""Grids of designs replayed on one capture: the grid, its table, its curves, its page."""
