# SPDX-License-Identifier: GPL-2.0-or-later
"""Exploration: a grid of designs replayed on one capture."""
