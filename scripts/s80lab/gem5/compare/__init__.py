# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares runs of gem5 with runs of the model for the same mix, one sampling interval after the other."""
