/* SPDX-License-Identifier: GPL-2.0-or-later
 * Threads that add to one counter. The order in which they come is free. */
#include "program.h"

static line counter;

void run(int me) {
    for (long round = 0; round < arguments.rounds; ++round) {
        round_begins(me, round);
        __atomic_fetch_add(&counter.word[0], 1, __ATOMIC_SEQ_CST);
        compute(varied_work(me, round));
    }
}
