/* SPDX-License-Identifier: GPL-2.0-or-later
 * A lock whose waiter polls a limited number of times, without PAUSE, and then sleeps in the kernel until
 * the holder wakes it. Around a counter on a line of its own. The order of the threads is free.
 *
 * Prints `sleeps`: how often thread 0 slept, per thousand of its acquisitions. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "program.h"

enum { polls = 200 };
static line counter, stop;
static struct {
    volatile int word; /* 0: free, 1: taken, 2: taken, and a thread may sleep */
} __attribute__((aligned(LINE))) lock;

/* Returns whether the thread slept. */
static int acquire(void) {
    for (int i = 0; i < polls; ++i) {
        int expected = 0;
        if (lock.word == 0 &&
            __atomic_compare_exchange_n(&lock.word, &expected, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            return 0;
        }
    }
    int slept = 0;
    while (__atomic_exchange_n(&lock.word, 2, __ATOMIC_ACQUIRE) != 0) {
        syscall(SYS_futex, &lock.word, FUTEX_WAIT_PRIVATE, 2, NULL);
        slept = 1;
    }
    return slept;
}

static void release(void) {
    if (__atomic_exchange_n(&lock.word, 0, __ATOMIC_RELEASE) == 2) {
        syscall(SYS_futex, &lock.word, FUTEX_WAKE_PRIVATE, 1);
    }
}

void run(int me) {
    long sleeps = 0;
    for (long round = 0; me == 0 ? round < arguments.rounds : stop.word[0] == 0; ++round) {
        round_begins(me, round);
        sleeps += acquire();
        counter.word[0] = counter.word[0] + 1;
        compute(varied_work(me, round));
        release();
        compute(varied_work(me, round));
    }
    if (me != 0) return;
    stop.word[0] = 1;
    printf("{\"event\": \"trap\", \"sleeps\": %ld}\n", 1000 * sleeps / arguments.rounds);
}
