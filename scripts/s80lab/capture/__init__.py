# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures (recorded access streams), their replays on other designs, and the benchmarks of model and captures.

This package may import the package experiment and the packages below it. capture/explore replays grids of designs.
"""
