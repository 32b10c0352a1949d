# SPDX-License-Identifier: GPL-2.0-or-later
"""What any laboratory needs: errors for the user, paths, TOML strictly read, whole-or-absent folders, stores, progress.

Knows nothing of machines, guests or mail. Imports nothing of s80lab but itself.
"""
