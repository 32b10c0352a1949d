# SPDX-License-Identifier: GPL-2.0-or-later
"""The other engine: the user's gem5, run by our configuration scripts (configs/gem5), its statistics in our schema.

May import capture and below. Agreement of Ruby with the model is in gem5/agree, the engines side by side in
gem5/compare.
"""
