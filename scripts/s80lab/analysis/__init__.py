# SPDX-License-Identifier: GPL-2.0-or-later
"""What results mean: groups of runs with means and intervals, comparisons of designs, attributed misses, profiles,
claims, studies, sweeps.

This package computes values and verdicts; the package report shows them. It may import results and the packages below
it.
"""
