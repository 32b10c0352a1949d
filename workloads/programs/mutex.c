/* SPDX-License-Identifier: GPL-2.0-or-later
 * A counter that a POSIX mutex protects. The order in which the threads come is free. */
#include <pthread.h>

#include "program.h"

static line counter;
static pthread_mutex_t mutex __attribute__((aligned(LINE))) = PTHREAD_MUTEX_INITIALIZER;

void run(int me) {
    for (long round = 0; round < arguments.rounds; ++round) {
        round_begins(me, round);
        pthread_mutex_lock(&mutex);
        counter.word[0] = counter.word[0] + 1;
        pthread_mutex_unlock(&mutex);
        compute(varied_work(me, round));
    }
}
