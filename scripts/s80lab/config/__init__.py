# SPDX-License-Identifier: GPL-2.0-or-later
"""The files of configs and workloads: machines, experiments, scales, servers and workload profiles.

The package may import `base`. Protocol tables are read by the package `protocol`.
"""
