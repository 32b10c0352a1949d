/* SPDX-License-Identifier: GPL-2.0-or-later
 * Markers: no-operation instructions that the plugin recognises (docs/reference/interfaces/markers.md). */
#pragma once

enum {
    mark_processor = 1,
    mark_region_begin = 8,
    mark_region_end = 9,
    mark_run_begin = 10,
    mark_run_end = 11
};

#define MARK(marker, value)                                           \
    __asm__ volatile(".byte 0x0f, 0x1f, 0x80\n\t.long %c0"            \
                     :                                                \
                     : "i"(0x53380000 | (marker)), "D"((long)(value)) \
                     : "memory")
