# SPDX-License-Identifier: GPL-2.0-or-later
"""The paper's claims beside what was measured: `rules` judge, `answers` say what is compared, `tables` show it."""
