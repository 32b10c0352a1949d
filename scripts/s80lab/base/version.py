# SPDX-License-Identifier: GPL-2.0-or-later
"""The version of s80lab."""

__version__ = "0.1.0"
