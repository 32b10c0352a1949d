# SPDX-License-Identifier: GPL-2.0-or-later
"""What runs say: statistics over several runs, without a page, a figure or a terminal."""
