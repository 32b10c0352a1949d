# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs QEMU and the guest in it: command line, console, save and restore, and the kernel's own counters.

This package may import image, protocol and everything below them. guest/kernel interprets the guest's memory.
"""
