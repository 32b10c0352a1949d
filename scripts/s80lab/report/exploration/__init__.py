# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables, curves and page of an exploration: a grid of designs replayed on one capture."""
