# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics, each declared once with unit, formula and source: the report, the database and the docs read the registry.

`registry` is the declaration itself, `derive` makes stats.json; each other module is a subject.
"""
