/* SPDX-License-Identifier: GPL-2.0-or-later
 * All threads add to one word. Between two additions of a thread another thread adds, so each addition gets
 * the line from the other one (a transfer from M) and makes it its own (an upgrade). The order is free. */
#include "threads.h"

static line counter;

__attribute__((noinline)) void operation(int me, long n) {
    (void)me;
    (void)n;
    __atomic_fetch_add(&counter.value, 1, __ATOMIC_SEQ_CST);
}
