# SPDX-License-Identifier: GPL-2.0-or-later
"""The version, below everything that writes it down."""

__version__ = "0.1.0"
