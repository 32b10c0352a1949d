/* SPDX-License-Identifier: GPL-2.0-or-later
 * A ticket lock protects a counter. Of n threads, an operation gets `next` and the counter from the thread
 * before (two transfers), and the n - 1 threads that wait read `serving` after it was written. The order is
 * free. */
#include "threads.h"

static line next, serving, counter;

__attribute__((noinline)) void operation(int me, long n) {
    (void)me;
    (void)n;
    const long ticket = __atomic_fetch_add(&next.value, 1, __ATOMIC_SEQ_CST);
    while (serving.value != ticket) pause_loop();
    counter.value = counter.value + 1;
    __atomic_store_n(&serving.value, ticket + 1, __ATOMIC_RELEASE);
}
