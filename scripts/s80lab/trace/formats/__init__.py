# SPDX-License-Identifier: GPL-2.0-or-later
"""Trace formats of other simulators, one module per format. Module `exchange` defines what a format provides."""
