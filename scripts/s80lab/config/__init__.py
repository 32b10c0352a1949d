# SPDX-License-Identifier: GPL-2.0-or-later
"""The files of configs/ and workloads/, strictly read: machines, experiments, scales, workload profiles.

May import base. Protocols' tables have a package of their own.
"""
