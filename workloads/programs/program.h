/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the programs with known coherence events share. A program executes rounds on a number of threads. Each
 * thread has a processor of its own, from processor 1 on. Processor 0 starts the threads and sleeps, or
 * computes.
 *
 * Arguments: threads, rounds, work (see struct arguments), busy (1: processor 0 computes).
 * Each program defines `run`. The first process of the guest (init.c) executes the programs; tests/programs
 * starts the guest. */
#pragma once

#define LINE 128 /* bytes of a cache line of the machine `s80` */
#define MOST_THREADS 16

typedef struct {
    volatile long word[LINE / sizeof(long)];
} __attribute__((aligned(LINE))) line;

struct arguments {
    int threads;
    long rounds;
    long work; /* about how many instructions a thread executes between two operations */
};
extern struct arguments arguments;

/* Each thread executes this function. `me`: number of the thread, from 0. */
void run(int me);

/* Each thread calls this function when it begins a round. The measured region begins when thread 0 has
 * executed a tenth of its rounds, and ends when a tenth is left. Then the program prints how many rounds all
 * threads began in the region, and how long the region was by the guest's clock. */
void round_begins(int me, long round);

/* Work for the rounds of threads that are free in their order: arguments.work on average, but a different
 * number in each round. With equal numbers the threads would lock into one of several patterns. */
static inline long varied_work(int me, long round) {
    const unsigned long mixed =
        ((unsigned long)round * MOST_THREADS + (unsigned long)me) * 0x9e3779b97f4a7c15;
    return arguments.work / 2 + (long)((mixed >> 32) % ((unsigned long)arguments.work + 1));
}

/* The guest's monotonic clock. */
long now_ns(void);

static inline void pause_loop(void) {
    __builtin_ia32_pause();
}

/* Between two polls: PAUSE, except in the variant of a program without it. */
static inline void wait_loop(void) {
#ifndef NO_PAUSE
    pause_loop();
#endif
}

/* Executes about n instructions that access no memory. */
static inline void compute(long n) {
    for (long i = 0; i < n; i += 3) {
        __asm__ volatile("" ::: "memory");
    }
}
