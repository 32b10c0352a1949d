/* SPDX-License-Identifier: GPL-2.0-or-later
 * Markers for programs that `s80lab exec --markers` measures. Each is one instruction without effect on any
 * x86-64 processor, so that the program runs unchanged elsewhere. C and C++; for other languages see
 * docs/guides/exec.md. */
#pragma once

/* The measured region begins, and ends. Counts of several regions are added. */
#define S80LAB_BEGIN() __asm__ volatile(".byte 0x0f, 0x1f, 0x80, 0x08, 0x00, 0x38, 0x53" ::: "memory")
#define S80LAB_END() __asm__ volatile(".byte 0x0f, 0x1f, 0x80, 0x09, 0x00, 0x38, 0x53" ::: "memory")
