# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of a report, as SVG and PNG: one module a subject, one look (`style`), `all` draws them."""
