# SPDX-License-Identifier: GPL-2.0-or-later
"""Results: the plugin's snapshots, conservation checks, metrics, the database, and the paper's published numbers.

This package may import guest and the packages below it. Metrics are declared in results/metrics only.
"""
