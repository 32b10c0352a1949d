# SPDX-License-Identifier: GPL-2.0-or-later
"""The same accesses through gem5's Ruby and through the model, category by category."""
