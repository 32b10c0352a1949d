# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables and page of a run's attributed misses."""
