# SPDX-License-Identifier: GPL-2.0-or-later
"""What was measured: the plugin's snapshots, identities that they satisfy, metrics, the database, the paper's figures.

May import guest and below. A metric is declared in results/metrics and nowhere else.
"""
