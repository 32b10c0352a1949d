/* SPDX-License-Identifier: GPL-2.0-or-later
 * A thread polls two lines, without PAUSE, until either of them changes: a request of thread 0 comes by one
 * line or by the other. It answers on a line of its own. Threads 1 and above take turns; a round is a request
 * to each of them. */
#include "program.h"

static line requests[MOST_THREADS][2], answers[MOST_THREADS];

static void ask(int other, long round) {
    const long now = round + 1;
    requests[other][(round + other) % 2].word[0] = now;
    while (answers[other].word[0] != now) {
    }
}

void run(int me) {
    for (long round = 0; round < arguments.rounds; ++round) {
        round_begins(me, round);
        if (me == 0) {
            for (int other = 1; other < arguments.threads; ++other) ask(other, round);
            compute(arguments.work);
        } else {
            const long now = round + 1;
            while (requests[me][0].word[0] != now && requests[me][1].word[0] != now) {
            }
            compute(arguments.work);
            answers[me].word[0] = now;
        }
    }
}
