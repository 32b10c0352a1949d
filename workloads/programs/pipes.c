/* SPDX-License-Identifier: GPL-2.0-or-later
 * Threads pass a byte on in a ring of pipes. Each sleeps in the kernel until the byte comes. A round is a
 * hand-over. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "program.h"

static int pipes[MOST_THREADS][2];
static pthread_once_t opened = PTHREAD_ONCE_INIT;

static void open_pipes(void) {
    for (int i = 0; i < arguments.threads; ++i) {
        if (pipe(pipes[i]) != 0) exit(1);
    }
}

void run(int me) {
    const int next = (me + 1) % arguments.threads;
    char byte = 0;
    pthread_once(&opened, open_pipes);
    for (long round = 0; round < arguments.rounds; ++round) {
        if ((me != 0 || round != 0) && read(pipes[me][0], &byte, 1) != 1) exit(1);
        round_begins(me, round);
        compute(arguments.work);
        if (write(pipes[next][1], &byte, 1) != 1) exit(1);
    }
}
