/* SPDX-License-Identifier: GPL-2.0-or-later
 * False sharing: each thread adds to a word of its own in one line. The order in which they come is free. */
#include "program.h"

static line words;

void run(int me) {
    for (long round = 0; round < arguments.rounds; ++round) {
        round_begins(me, round);
        words.word[me] = words.word[me] + 1;
        compute(varied_work(me, round));
    }
}
