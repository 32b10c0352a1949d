# SPDX-License-Identifier: GPL-2.0-or-later
"""The second engine, `gem5`: runs experiments in the user's own gem5 and converts its statistics to s80lab's format.
gem5 runs the scripts in configs/gem5.

This package may import capture and everything below it. gem5/agree checks that Ruby and the model count the same
accesses alike. gem5/intervals.py compares whole runs of the two engines.
"""
