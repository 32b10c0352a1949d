/* SPDX-License-Identifier: GPL-2.0-or-later
 * Producers and consumers: thread 2 i passes items to thread 2 i + 1 through a ring of 8 slots, each
 * on a line of its own. A round is an item.
 *
 * Expected for an item (MOESI): the producer finds the slot free, a load miss that the consumer's M
 * services, and fills it, an upgrade. The consumer finds it full, a load miss that the producer's M
 * services, and frees it, an upgrade. Polls in between hit: a copy stays readable until the other one
 * stores. So a pair of threads has 2 load misses from M and 2 upgrades in a round. */
#include "program.h"

enum { slots = 8 };
static line ring[MOST_THREADS / 2][slots];

void run(int me) {
    for (long round = 0; round < arguments.rounds; ++round) {
        line* slot = &ring[me / 2][round % slots];
        round_begins(me, round);
        if (me % 2 == 0) {
            while (slot->word[0] != 0) pause_loop();
            compute(arguments.work);
            slot->word[0] = round + 1;
        } else {
            while (slot->word[0] == 0) pause_loop();
            compute(arguments.work);
            slot->word[0] = 0;
        }
    }
}
