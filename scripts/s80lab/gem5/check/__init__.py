# SPDX-License-Identifier: GPL-2.0-or-later
"""Certifies or refuses the MOESI_hammer of a gem5 binary by its result: gem5 plays short traces, and its counts must
equal those of the model. The verdict is stored by the content of the binary."""
