# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest's kernel, told from its files and memory: symbols (kallsyms), layouts (BTF), tasks, pages, slab caches.

What reads files: elf, symbols, types, unpack, facts, plugin_file. What reads a guest's RAM through them: memory and all
that stands on it (tasks, address_space, file_names, pages, slabs).
"""
