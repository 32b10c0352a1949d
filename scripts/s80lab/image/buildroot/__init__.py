# SPDX-License-Identifier: GPL-2.0-or-later
"""Guest images out of the user's own Buildroot and the external tree of disk-images/buildroot."""
