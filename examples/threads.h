/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the examples share: threads that call `operation` again and again, and the measured region.
 *
 * Arguments: threads, operations of each thread. The region begins when every thread has executed a tenth of
 * its operations, and ends when thread 0 has a tenth left: all threads run all the time in it. */
#pragma once
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "../workloads/exec/s80lab.h"

#define LINE 64 /* bytes of a cache line of the machine `desktop-8` */
#define MOST 16

typedef struct {
    _Alignas(LINE) volatile long value;
} line;

static int threads;
static long operations;
static line started, begun;

/* Each example defines it. `me`: number of the thread, from 0. n: number of the operation. */
void operation(int me, long n);

static inline void pause_loop(void) {
    __builtin_ia32_pause();
}

static void* thread_main(void* number) {
    const int me = (int)(long)number;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)me, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) exit(2); /* a machine with too few processors */
    __atomic_fetch_add(&started.value, 1, __ATOMIC_SEQ_CST);
    while (started.value != threads) pause_loop();
    for (long n = 0; n < operations; ++n) {
        if (n == operations / 10 && __atomic_add_fetch(&begun.value, 1, __ATOMIC_SEQ_CST) == threads)
            S80LAB_BEGIN();
        if (me == 0 && n == operations - operations / 10) S80LAB_END();
        operation(me, n);
    }
    return NULL;
}

int main(int count, char** words) {
    threads = count > 1 ? atoi(words[1]) : 2;
    operations = count > 2 ? atol(words[2]) : 20000;
    if (threads < 2 || threads > MOST || operations < 100) {
        fprintf(stderr, "usage: %s [threads from 2 to 16] [operations from 100]\n", words[0]);
        return 2;
    }
    pthread_t thread[MOST];
    for (long n = 0; n < threads; ++n) pthread_create(&thread[n], NULL, thread_main, (void*)n);
    for (int n = 0; n < threads; ++n) pthread_join(thread[n], NULL);
    return 0;
}
