# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics. Each is declared once, with unit, description and formula; report, database and docs read the registry.

`registry` defines the declaration, `derive` writes stats.json, and each other module declares the metrics of a subject.
"""
