/* SPDX-License-Identifier: GPL-2.0-or-later */
#define _GNU_SOURCE
#include "program.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "marker.h"

struct arguments arguments;

static pthread_barrier_t together;
static line began[MOST_THREADS]; /* number of the round that each thread is in */

static long rounds_of_all(void) {
    long sum = 0;
    for (int i = 0; i < arguments.threads; ++i) sum += began[i].word[0];
    return sum;
}

long now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

void round_begins(int me, long round) {
    static long before, began_at;
    began[me].word[0] = round;
    if (me != 0) return;
    if (round == arguments.rounds / 10) {
        before = rounds_of_all();
        began_at = now_ns();
        MARK(mark_region_begin, 0);
    } else if (round == arguments.rounds - arguments.rounds / 10) {
        MARK(mark_region_end, 0);
        const long ns = now_ns() - began_at;
        printf("{\"event\": \"region\", \"rounds\": %ld, \"guest_ns\": %ld}\n", rounds_of_all() - before, ns);
    }
}

static void pin(int processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)processor, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) exit(1);
}

/* The plugin learns which processor of QEMU is which of the guest. From now on it models the guest. */
static void bind_processors(void) {
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    for (long p = 0; p < processors; ++p) {
        pin((int)p);
        MARK(mark_processor, p);
    }
}

/* A barrier of the kernel wakes the threads one after the other. They begin when all are awake. */
static void begin_together(void) {
    static line awake;
    pthread_barrier_wait(&together);
    __atomic_add_fetch(&awake.word[0], 1, __ATOMIC_SEQ_CST);
    while (awake.word[0] != arguments.threads) pause_loop();
}

static void* thread(void* number) {
    const int me = (int)(long)number;
    pin(1 + me);
    begin_together();
    run(me);
    return NULL;
}

int main(int count, char** words) {
    if (count != 5) return 1;
    arguments = (struct arguments){atoi(words[1]), atol(words[2]), atol(words[3])};
    const int busy = atoi(words[4]);
    if (arguments.threads < 1 || arguments.threads > MOST_THREADS) return 1;
    mlockall(MCL_CURRENT | MCL_FUTURE); /* the region has no page faults */
    pthread_barrier_init(&together, NULL, (unsigned)arguments.threads + 1);
    pthread_t threads[MOST_THREADS];
    for (long me = 0; me < arguments.threads; ++me) {
        if (pthread_create(&threads[me], NULL, thread, (void*)me) != 0) return 1;
    }
    bind_processors();
    pin(0);
    pthread_barrier_wait(&together);
    if (busy) {
        while (pthread_tryjoin_np(threads[0], NULL) == EBUSY) compute(100000);
    } else {
        pthread_join(threads[0], NULL);
    }
    for (int me = 1; me < arguments.threads; ++me) pthread_join(threads[me], NULL);
    return 0;
}
