# SPDX-License-Identifier: GPL-2.0-or-later
"""One QEMU process and the guest in it: the command line, the console, save and restore, the kernel's own counters.

May import image, protocol and below. What the guest's memory says is in guest/kernel.
"""
