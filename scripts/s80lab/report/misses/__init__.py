# SPDX-License-Identifier: GPL-2.0-or-later
"""A run's misses with names: the plugin's log, the function that missed, what the line was, how it was shared."""
