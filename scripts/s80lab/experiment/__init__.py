# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments: what they need, their plan, the ready and warm checkpoints, the measured run, all stages in order.

May import trace and below. Knock-outs and the number of seeds that a precision needs are experiments too.
"""
