# SPDX-License-Identifier: GPL-2.0-or-later
"""s80lab: a full-system laboratory for servers on shared-memory multiprocessors."""

__version__ = "0.1.0"
