# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces of memory accesses: totally ordered traces, text traces, formats of other simulators, step-by-step lessons.

May import report and the layers below, because a lesson is rendered as a page. The formats are in trace/formats.
"""
