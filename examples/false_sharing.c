/* SPDX-License-Identifier: GPL-2.0-or-later
 * Each thread adds to a counter of its own, and all counters are in one line: as many transfers as with one
 * counter. The order is free. */
#include "threads.h"

struct statistics {
    int hits;
} statistics[MOST] __attribute__((aligned(LINE)));

__attribute__((noinline)) void operation(int me, long n) {
    (void)n;
    __atomic_fetch_add(&statistics[me].hits, 1, __ATOMIC_SEQ_CST);
}
