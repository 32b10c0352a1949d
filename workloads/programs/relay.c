/* SPDX-License-Identifier: GPL-2.0-or-later
 * Strict alternation as in alternate.c, without PAUSE if -DNO_PAUSE. In ten rounds at random distances
 * thread 0 stalls: it executes arguments.work instructions. Between two hand-overs no thread works otherwise.
 *
 * Prints `hop_ps`: the time of a hand-over by thread 0's time-stamp counter, in thousandths of a nanosecond,
 * from the 20th round after a stall to the next stall. The median over the stalls. */
#include <stdio.h>

#include "program.h"

enum { stalls = 10, settles = 20, measures = 40 };
static line flags[MOST_THREADS];

static unsigned long stamp(void) {
    return __builtin_ia32_rdtsc();
}

/* Rounds after a stall up to the next one. */
static long distance(long stall) {
    const unsigned long mixed = (unsigned long)(stall + 1) * 0x9e3779b97f4a7c15;
    return settles + measures + (long)(mixed >> 59);
}

/* Inserts the value of this stall, from 1, into the sorted values of those before. */
static void insert(unsigned long* values, long stall, unsigned long value) {
    long at = stall - 1;
    for (; at > 0 && values[at - 1] > value; --at) values[at] = values[at - 1];
    values[at] = value;
}

void run(int me) {
    const int next = (me + 1) % arguments.threads;
    long stall = 0, stalled_at = 0, next_stall = distance(0);
    unsigned long settled = 0, hops[stalls] = {0};
    for (long round = 0; round < arguments.rounds; ++round) {
        const long now = round + 1;
        while (flags[me].word[0] != (me == 0 ? round : now)) wait_loop();
        round_begins(me, round);
        if (me == 0 && arguments.work != 0 && stall <= stalls) {
            if (round == stalled_at + settles) settled = stamp();
            if (round == next_stall) {
                const unsigned long many =
                    (unsigned long)((round - stalled_at - settles) * arguments.threads);
                if (stall != 0) insert(hops, stall, (stamp() - settled) * 1000 / many);
                stalled_at = round;
                ++stall;
                next_stall = round + distance(stall);
                if (stall <= stalls) compute(arguments.work);
            }
        }
        flags[next].word[0] = now;
    }
    if (me == 0 && arguments.work != 0) printf("{\"event\": \"hops\", \"hop_ps\": %lu}\n", hops[stalls / 2]);
}
