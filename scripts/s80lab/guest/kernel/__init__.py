# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the guest's kernel from its files and from the guest's memory: symbols (kallsyms), structure layouts (BTF),
tasks, pages, slab caches.

Modules that read files: elf, symbols, types, unpack, facts, plugin_file. The module memory reads a guest's RAM with
their help; tasks, address_space, file_names, pages and slabs build on it.
"""
