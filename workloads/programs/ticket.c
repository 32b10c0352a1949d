/* SPDX-License-Identifier: GPL-2.0-or-later
 * A ticket lock around a counter, each on a line of its own. The order in which the threads come is free. */
#include "program.h"

static line next, serving, counter;

void run(int me) {
    for (long round = 0; round < arguments.rounds; ++round) {
        round_begins(me, round);
        const long mine = __atomic_fetch_add(&next.word[0], 1, __ATOMIC_SEQ_CST);
        while (serving.word[0] != mine) pause_loop();
        counter.word[0] = counter.word[0] + 1;
        __atomic_store_n(&serving.word[0], mine + 1, __ATOMIC_RELEASE);
        compute(varied_work(me, round));
    }
}
