/* SPDX-License-Identifier: GPL-2.0-or-later
 * Two threads alternate. Thread 0 stores a word of which the first half lies in one line and the second half
 * in the next line. Thread 1 then loads the last word of the second line.
 *
 * Expected in a round (MOESI), beside the events of the turns (alternate.c): thread 0's store upgrades the
 * second line, and thread 1's load misses and is serviced from M. The threads use different bytes: false
 * sharing. */
#include "program.h"

static line flags[2];
static line data[2];

void run(int me) {
    volatile long* const crosses = (volatile long*)((char*)&data[1] - sizeof(long) / 2);
    for (long round = 0; round < arguments.rounds; ++round) {
        const long now = round + 1;
        while (flags[me].word[0] != (me == 0 ? round : now)) pause_loop();
        round_begins(me, round);
        if (me == 0) {
            *crosses = now;
        } else {
            (void)data[1].word[LINE / sizeof(long) - 1];
        }
        flags[1 - me].word[0] = now;
    }
}
