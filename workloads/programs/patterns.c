/* SPDX-License-Identifier: GPL-2.0-or-later
 * The patterns of sharing that textbooks name. Two threads take turns; in its turn each accesses every
 * line once.
 *
 * Expected in a round of 2 threads (MOESI), two turns:
 * - `turn`: one line, which both threads poll and write: 2 load misses from M, 2 upgrades.
 * - `apart`: one line in which each thread stores to a word of its own and reads nothing (false
 *   sharing): 2 store misses from M.
 * - `produced`: 8 lines that thread 0 stores to and thread 1 loads: 8 upgrades, 8 load misses from M.
 * - `moved`: 4 lines that each thread loads and then stores to (migratory data): 8 load misses from M,
 *   8 upgrades.
 *
 * So 18 load misses and 2 store misses from M, and 18 upgrades. */
#include "program.h"

enum { many_produced = 8, many_moved = 4 };
static line turn, apart, produced[many_produced], moved[many_moved];

void run(int me) {
    long sum = 0;
    for (long round = 0; round < arguments.rounds; ++round) {
        const long mine = 2 * round + me;
        while (turn.word[0] != mine) pause_loop();
        round_begins(me, round);
        apart.word[me] = round;
        for (int i = 0; i < many_produced; ++i) {
            if (me == 0) {
                produced[i].word[0] = round;
            } else {
                sum += produced[i].word[0];
            }
        }
        for (int i = 0; i < many_moved; ++i) moved[i].word[0] += 1;
        compute(arguments.work);
        turn.word[0] = mine + 1;
    }
    (void)sum;
}
