# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the paper's claims with measurements: `answers` reads what to compare, `rules` and `judge` compute
verdicts."""
