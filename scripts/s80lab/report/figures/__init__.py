# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of a report as SVG and PNG: one module per subject, a common look in `style`, and `all` draws them."""
