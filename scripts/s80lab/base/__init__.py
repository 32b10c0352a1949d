# SPDX-License-Identifier: GPL-2.0-or-later
"""Basic services: errors for the user, paths, strict TOML reading, atomic folders, stores, progress lines.

The package knows nothing about machines, guests or mail. It imports no other package of s80lab.
"""
