# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments: resources, plan, ready and warm checkpoints, measured run, and the pipeline of all stages.

Ablations and the number of seeds for a given precision are here too. The package may import `trace` and the packages
below it.
"""
