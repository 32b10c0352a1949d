# SPDX-License-Identifier: GPL-2.0-or-later
"""Coherence protocols: tables, the laws that they must hold to, proofs by model checking, pages and diagrams.

May import config and below; shares its layer with image, of which it knows nothing.
"""
