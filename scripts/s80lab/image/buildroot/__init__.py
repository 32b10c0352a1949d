# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds guest images with the user's own Buildroot and the external tree in disk-images/buildroot."""
