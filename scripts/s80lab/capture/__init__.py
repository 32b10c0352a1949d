# SPDX-License-Identifier: GPL-2.0-or-later
"""Recorded streams of accesses and their replays on other designs; what the model and its captures cost (bench).

May import experiment and below. Grids of designs are in capture/explore.
"""
