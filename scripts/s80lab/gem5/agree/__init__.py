# SPDX-License-Identifier: GPL-2.0-or-later
"""Plays the same accesses through gem5's Ruby and through the model, and compares the counts by category."""
