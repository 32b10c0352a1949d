/* SPDX-License-Identifier: GPL-2.0-or-later
 * A sense-reversing barrier. The threads arrive in the order of their numbers, one after the other.
 *
 * Expected in a round of n threads (MOESI):
 * - `count`: each thread decrements it: a load miss from the M of the thread before it, and an
 *   upgrade. For thread 0 the thread before it is the last one, which sets it again. So n of each.
 * - `arrived`: thread i tells thread i + 1 that it has arrived, as in alternate.c: n - 1 load misses
 *   from M, and n - 1 upgrades.
 * - `sense`: the last thread reverses it: an upgrade. Each of the others has had a copy since the last
 *   round and misses once: the first is serviced from M, the n - 2 others from O.
 *
 * So 2 n load misses from M, n - 2 from O, and 2 n upgrades. */
#include "program.h"

static line count, sense, arrived[MOST_THREADS];

void run(int me) {
    const int last = arguments.threads - 1;
    if (me == 0) count.word[0] = arguments.threads;
    for (long round = 0; round < arguments.rounds; ++round) {
        const long now = round + 1;
        round_begins(me, round);
        if (me != 0) {
            while (arrived[me].word[0] != now) pause_loop();
        }
        compute(arguments.work);
        if (__atomic_sub_fetch(&count.word[0], 1, __ATOMIC_SEQ_CST) == 0) {
            count.word[0] = arguments.threads;
            sense.word[0] = now;
        } else {
            if (me != last) arrived[me + 1].word[0] = now;
            while (sense.word[0] != now) pause_loop();
        }
    }
}
