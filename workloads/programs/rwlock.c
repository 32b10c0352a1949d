/* SPDX-License-Identifier: GPL-2.0-or-later
 * A reader-writer lock in one word around two lines of data. Readers add 2 and subtract 2; the writer, thread
 * 0, sets bit 0 if the word is 0. A round is an acquisition by the writer or by a reader. The order of the
 * threads is free. With -DNO_PAUSE a thread that finds the lock taken polls without PAUSE. */
#include "program.h"

static line lock, data[2], stop;

static void write_data(long value) {
    long expected = 0;
    while (!__atomic_compare_exchange_n(&lock.word[0], &expected, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
        expected = 0;
        wait_loop();
    }
    data[0].word[0] = value;
    data[1].word[0] = value;
    __atomic_fetch_sub(&lock.word[0], 1, __ATOMIC_SEQ_CST);
}

static void read_data(void) {
    while ((__atomic_fetch_add(&lock.word[0], 2, __ATOMIC_SEQ_CST) & 1) != 0) {
        __atomic_fetch_sub(&lock.word[0], 2, __ATOMIC_SEQ_CST);
        wait_loop();
    }
    (void)data[0].word[0];
    (void)data[1].word[0];
    __atomic_fetch_sub(&lock.word[0], 2, __ATOMIC_SEQ_CST);
}

void run(int me) {
    for (long round = 0; me == 0 ? round < arguments.rounds : stop.word[0] == 0; ++round) {
        round_begins(me, round);
        if (me == 0) {
            write_data(round);
            compute(3 * varied_work(me, round));
        } else {
            read_data();
            compute(varied_work(me, round));
        }
    }
    if (me == 0) stop.word[0] = 1;
}
