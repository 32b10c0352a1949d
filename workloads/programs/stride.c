/* SPDX-License-Identifier: GPL-2.0-or-later
 * Threads that share nothing and never wait: each loads every line of an area of its own, again and
 * again. The area has twice the size of the s80's L1, so each load misses the L1 and hits the L2. When
 * all have loaded it once, the rounds begin. */
#include "program.h"

enum { lines = 2048 };
static line areas[MOST_THREADS][lines], warm;

static void load_all(int me) {
    for (int i = 0; i < lines; ++i) (void)areas[me][i].word[0];
}

void run(int me) {
    load_all(me);
    __atomic_add_fetch(&warm.word[0], 1, __ATOMIC_SEQ_CST);
    while (warm.word[0] != arguments.threads) pause_loop();
    for (long round = 0; round < arguments.rounds; ++round) {
        round_begins(me, round);
        load_all(me);
    }
}
