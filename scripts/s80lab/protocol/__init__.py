# SPDX-License-Identifier: GPL-2.0-or-later
"""Coherence protocols: tables, their invariants, proofs by model checking, generated pages and diagrams.

May import config and the layers below. It shares its layer with image, and neither imports the other.
"""
