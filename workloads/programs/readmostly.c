/* SPDX-License-Identifier: GPL-2.0-or-later
 * Data that all threads read and thread 0 rarely writes; the readers acknowledge each new version.
 *
 * Expected in a round of n threads, n - 1 of them readers (MOESI):
 * - `data` and `version`: 5 lines. Thread 0 stores to each: 5 upgrades. Each reader misses once in
 *   each: the first is serviced from M, the n - 2 others from O.
 * - `seen`: each reader stores to a line of its own, which thread 0 has read: n - 1 upgrades. Thread 0
 *   polls it: n - 1 load misses from M.
 *
 * So 5 + (n - 1) load misses from M, 5 (n - 2) from O, and 5 + (n - 1) upgrades. */
#include "program.h"

enum { lines = 4 };
static line data[lines], version, seen[MOST_THREADS];

void run(int me) {
    long sum = 0;
    for (long round = 0; round < arguments.rounds; ++round) {
        const long now = round + 1;
        round_begins(me, round);
        if (me == 0) {
            for (int i = 0; i < lines; ++i) data[i].word[0] = now;
            version.word[0] = now;
            for (int i = 1; i < arguments.threads; ++i) {
                while (seen[i].word[0] != now) pause_loop();
            }
        } else {
            while (version.word[0] != now) pause_loop();
            for (int i = 0; i < lines; ++i) sum += data[i].word[0];
            compute(arguments.work);
            seen[me].word[0] = now;
        }
    }
    (void)sum;
}
