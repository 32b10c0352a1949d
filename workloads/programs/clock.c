/* SPDX-License-Identifier: GPL-2.0-or-later
 * The guest's clock, on all threads: whether a processor's clock ever goes back, and by how much the
 * clock of one processor is behind the clock of another. In each round a thread sleeps for `work`
 * microseconds; 0: it does not.
 *
 * Each thread publishes its clock and then compares it with those that the others have published
 * before: a clock that is behind one of them is behind by at least the difference. */
#include <stdio.h>
#include <time.h>

#include "program.h"

static line clocks[MOST_THREADS];
static line steps_back[MOST_THREADS];
static line behind[MOST_THREADS];
static line done;

void run(int me) {
    const struct timespec sleep = {arguments.work / 1000000, arguments.work % 1000000 * 1000};
    for (long round = 0; round < arguments.rounds; ++round) {
        round_begins(me, round);
        if (arguments.work != 0) nanosleep(&sleep, NULL);
        for (int other = 0; other < arguments.threads; ++other) {
            const long published = clocks[other].word[0];
            const long now = now_ns();
            if (now < clocks[me].word[0]) ++steps_back[me].word[0];
            clocks[me].word[0] = now;
            if (published - now > behind[me].word[0]) behind[me].word[0] = published - now;
        }
    }
    __atomic_add_fetch(&done.word[0], 1, __ATOMIC_SEQ_CST);
    if (me != 0) return;
    while (done.word[0] != arguments.threads) pause_loop();
    long steps = 0, most = 0;
    for (int i = 0; i < arguments.threads; ++i) {
        steps += steps_back[i].word[0];
        most = behind[i].word[0] > most ? behind[i].word[0] : most;
    }
    printf("{\"event\": \"clocks\", \"steps_back\": %ld, \"behind_ns\": %ld}\n", steps, most);
}
