# SPDX-License-Identifier: GPL-2.0-or-later
"""gem5's runs beside the model's of the same mix, window by window."""
