# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds the guest image: unpacks Debian's packages, selects the files that a guest needs, and packs one initramfs.

This package may import config and everything below it. It is on the same layer as protocol and does not import it.
"""
