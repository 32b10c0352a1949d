# SPDX-License-Identifier: GPL-2.0-or-later
"""Accesses in the order in which they are played: order files, texts, other simulators' formats, lessons step by step.

May import report and below (a lesson is a page). Formats are in trace/formats.
"""
