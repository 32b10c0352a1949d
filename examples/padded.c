/* SPDX-License-Identifier: GPL-2.0-or-later
 * The mended form of false_sharing.c: each counter has a line of its own, and no line moves. */
#include "threads.h"

struct statistics {
    _Alignas(LINE) int hits;
} statistics[MOST];

__attribute__((noinline)) void operation(int me, long n) {
    (void)n;
    __atomic_fetch_add(&statistics[me].hits, 1, __ATOMIC_SEQ_CST);
}
