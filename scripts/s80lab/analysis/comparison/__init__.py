# SPDX-License-Identifier: GPL-2.0-or-later
"""Comparison of two sides, each a set of runs of one design: differences with intervals, and verdicts.

The interface, from bottom to top:

    difference.py    the difference of two samples with its interval (Welch), or of pairs; number of further
                     replications that would show a difference
    sides.py         the sides: groups of valid runs of one design each
    contrast.py      what is compared, and the comparison of two sides, row by row
    functions.py     attributed misses by function, on both sides
"""
