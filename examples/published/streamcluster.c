/* SPDX-License-Identifier: GPL-2.0-or-later
 * The case of `streamcluster` in PARSEC (Bienia and others, PACT 2008): each thread adds up, for each centre,
 * what its points would save if another centre opened. Its part of work_mem is rounded up to a line, but the
 * constant says 32 bytes, so that two threads share a line of 64.
 * PADDED: the constant says 64 bytes, and work_mem begins at a line. */
#include "threads.h"

#define POINTS 40000
#define CENTRES 2
#ifdef PADDED
#define CACHE_LINE 64
#else
#define CACHE_LINE 32
#endif

struct point {
    double cost, weight;
    int assign;
};

static struct point points[THREADS * POINTS];
static int center_table[CENTRES] = {0, 1};
static double* work_mem;
static int stride;

void setup(void) {
    const int per_line = CACHE_LINE / (int)sizeof(double);
    stride = CENTRES + 2;
    if (stride % per_line != 0) stride = per_line * (stride / per_line + 1);
    const size_t bytes = (size_t)stride * (THREADS + 1) * sizeof(double);
#ifdef PADDED
    work_mem = aligned_alloc(LINE, (bytes + LINE - 1) / LINE * LINE);
#else
    work_mem = malloc(bytes);
#endif
    for (int n = 0; n < stride * (THREADS + 1); ++n) work_mem[n] = 0;
    for (int n = 0; n < THREADS * POINTS; ++n) points[n] = (struct point){n % 13, 1 + n % 3, n % CENTRES};
}

void work(int me) {
    double* const lower = &work_mem[me * stride];
    for (int n = me * POINTS; n < (me + 1) * POINTS; ++n) {
        const double other = (n % 7) * points[n].weight;
        if (other < points[n].cost) {
            lower[CENTRES] += other - points[n].cost;
        } else {
            lower[center_table[points[n].assign]] += points[n].cost - other;
        }
    }
}
