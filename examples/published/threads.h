/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the published cases share: threads, each on a processor of its own, and the measured region. */
#pragma once
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../workloads/exec/s80lab.h"

#define LINE 64 /* bytes of a cache line of the machine `desktop-8` */
#define THREADS 4

/* Each case defines them. `setup` comes before the region; `work` is what thread `me` does. */
void setup(void);
void work(int me);

static pthread_barrier_t everybody;

static void* thread_main(void* number) {
    const int me = (int)(long)number;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)me, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) exit(2); /* a machine with too few processors */
    pthread_barrier_wait(&everybody);
    if (me == 0) S80LAB_BEGIN();
    work(me);
    pthread_barrier_wait(&everybody);
    if (me == 0) S80LAB_END();
    return NULL;
}

int main(void) {
    pthread_t thread[THREADS];
    pthread_barrier_init(&everybody, NULL, THREADS);
    setup();
    for (long n = 0; n < THREADS; ++n) pthread_create(&thread[n], NULL, thread_main, (void*)n);
    for (int n = 0; n < THREADS; ++n) pthread_join(thread[n], NULL);
    return 0;
}
