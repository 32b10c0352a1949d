/* SPDX-License-Identifier: GPL-2.0-or-later
 * A token goes round. Each thread waits at a line of its own, and writes the line of the next thread: a
 * transfer from M for the thread that waits, and an upgrade for the one that writes. The order is fixed. */
#include "threads.h"

static line token[MOST];

__attribute__((noinline)) void operation(int me, long n) {
    while (me + n != 0 && token[me].value != n + (me != 0)) pause_loop();
    const int next = (me + 1) % threads;
    token[next].value = n + 1;
}
