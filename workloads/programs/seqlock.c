/* SPDX-License-Identifier: GPL-2.0-or-later
 * A sequence lock around two lines of data. The writer, thread 0, makes the sequence odd, stores the data,
 * and makes the sequence even again. A reader repeats its loads, without PAUSE, until the sequence is even
 * and has not changed meanwhile. A round is a write or a successful read. The order of the threads is free.
 */
#include "program.h"

static line sequence, data[2], stop;

static void write_data(long value) {
    __atomic_store_n(&sequence.word[0], 2 * value + 1, __ATOMIC_SEQ_CST);
    data[0].word[0] = value;
    data[1].word[0] = value;
    __atomic_store_n(&sequence.word[0], 2 * value + 2, __ATOMIC_SEQ_CST);
}

static void read_data(void) {
    long begun;
    do {
        while (((begun = sequence.word[0]) & 1) != 0) {
        }
        (void)data[0].word[0];
        (void)data[1].word[0];
    } while (sequence.word[0] != begun);
}

void run(int me) {
    for (long round = 0; me == 0 ? round < arguments.rounds : stop.word[0] == 0; ++round) {
        round_begins(me, round);
        if (me == 0) {
            write_data(round);
        } else {
            read_data();
        }
        compute(varied_work(me, round));
    }
    if (me == 0) stop.word[0] = 1;
}
