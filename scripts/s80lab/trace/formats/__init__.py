# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of other simulators, one module a format; `exchange` says what a format is."""
