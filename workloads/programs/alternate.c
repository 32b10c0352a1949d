/* SPDX-License-Identifier: GPL-2.0-or-later
 * Strict alternation: the threads take turns. Each polls a flag of its own, on a line of its own.
 *
 * Expected in a round of n threads (MOESI): each thread passes the turn on by a store to the flag of
 * the next one. The writer has the flag's line in O and the reader in S, since the reader's last poll:
 * an upgrade. The reader's next poll misses and is serviced from the writer's M. So n upgrades and n
 * load misses from M. */
#include "program.h"

static line flags[MOST_THREADS];

void run(int me) {
    const int next = (me + 1) % arguments.threads;
    for (long round = 0; round < arguments.rounds; ++round) {
        const long now = round + 1;
        while (flags[me].word[0] != (me == 0 ? round : now)) pause_loop();
        round_begins(me, round);
        compute(arguments.work);
        flags[next].word[0] = now;
    }
}
