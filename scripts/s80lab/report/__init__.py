# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables, figures and pages made from results, for the terminal, report.html and Markdown.

This package may import results and the packages below it. Figures are in report/figures, the paper's claims in
report/claims, attributed misses in report/misses.
"""
