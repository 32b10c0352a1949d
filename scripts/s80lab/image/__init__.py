# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest image: Debian's packages unpacked, the files that a guest needs out of them, one initramfs.

May import config and below; shares its layer with protocol, of which it knows nothing.
"""
