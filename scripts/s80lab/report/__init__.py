# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables, figures and pages made from results, for the terminal, report.html and Markdown.

This package may import every package except commands and api, and no other package imports it: a command or a notebook
asks for a report. Figures are in report/figures.
"""
