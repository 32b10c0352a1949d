# SPDX-License-Identifier: GPL-2.0-or-later
"""Comparisons of two designs as tables, figure, page and JSON; s80lab.analysis.comparison computes them."""
