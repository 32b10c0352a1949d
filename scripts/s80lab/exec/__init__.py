# SPDX-License-Identifier: GPL-2.0-or-later
"""Any program in the guest: what it needs is handed to a restored guest, and its run is measured."""
