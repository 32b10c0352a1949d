/* SPDX-License-Identifier: GPL-2.0-or-later
 * Threads take turns, as in alternate.c. A thread polls its flag until its turn comes or until a time: it
 * then gives up, works, and polls again.
 *
 * Prints `gives_up`: how often thread 0 gave up, per thousand of its rounds. */
#include <stdio.h>

#include "program.h"

enum { patience_ns = 5000 };
static line flags[MOST_THREADS];

void run(int me) {
    const int next = (me + 1) % arguments.threads;
    long gave_up = 0;
    for (long round = 0; round < arguments.rounds; ++round) {
        const long now = round + 1;
        const long wanted = me == 0 ? round : now;
        while (flags[me].word[0] != wanted) {
            const unsigned long until = __builtin_ia32_rdtsc() + patience_ns;
            while (flags[me].word[0] != wanted && __builtin_ia32_rdtsc() < until) {
            }
            if (flags[me].word[0] != wanted) {
                ++gave_up;
                compute(100);
            }
        }
        round_begins(me, round);
        compute(varied_work(me, round));
        flags[next].word[0] = now;
    }
    if (me == 0) printf("{\"event\": \"trap\", \"gives_up\": %ld}\n", 1000 * gave_up / arguments.rounds);
}
