/* SPDX-License-Identifier: GPL-2.0-or-later
 * A spin lock around a counter on a line of its own. The order of the threads is free.
 *
 * -DTEST_AND_SET: exchange until the lock was free, with PAUSE in between.
 * -DCOMPARE_AND_SWAP: compare-and-swap instead.
 * Otherwise test and test-and-set, as pthread_spin_lock: after a failed exchange, loads with PAUSE until the
 * lock is free.
 * -DBACKOFF: after each failed exchange the thread computes for 16, 32, ... 1024 instructions.
 * -DUNEVEN: outside the lock, thread 0 works three times as long as the others. */
#include "program.h"

static line lock, counter, stop;

static void acquire(void) {
#if defined COMPARE_AND_SWAP
    for (long expected = 0;
         !__atomic_compare_exchange_n(&lock.word[0], &expected, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
         expected = 0) {
        pause_loop();
    }
#elif defined BACKOFF
    for (long instructions = 16; __atomic_exchange_n(&lock.word[0], 1, __ATOMIC_ACQUIRE) != 0;) {
        compute(instructions);
        if (instructions < 1024) instructions *= 2;
    }
#else
    while (__atomic_exchange_n(&lock.word[0], 1, __ATOMIC_ACQUIRE) != 0) {
#ifdef TEST_AND_SET
        pause_loop();
#else
        do pause_loop();
        while (lock.word[0] != 0);
#endif
    }
#endif
}

void run(int me) {
#ifdef UNEVEN
    const long factor = me == 0 ? 3 : 1;
#else
    const long factor = 1;
#endif
    for (long round = 0; me == 0 ? round < arguments.rounds : stop.word[0] == 0; ++round) {
        round_begins(me, round);
        acquire();
        counter.word[0] = counter.word[0] + 1;
        __atomic_store_n(&lock.word[0], 0, __ATOMIC_RELEASE);
        compute(factor * varied_work(me, round));
    }
    if (me == 0) stop.word[0] = 1;
}
