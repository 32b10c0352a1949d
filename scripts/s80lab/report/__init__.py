# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables, figures and pages out of results: the terminal, report.html, Markdown.

May import results and below. Figures are in report/figures, the paper's claims in report/claims, misses with names in
report/misses.
"""
