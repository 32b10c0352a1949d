/* SPDX-License-Identifier: GPL-2.0-or-later
 * The case of `linear_regression` in Phoenix (Ranger and others, HPCA 2007): each thread adds to five sums in
 * an object of its own. An object has exactly 64 bytes, but malloc aligns to 16, so that each line holds the
 * end of one object and the begin of the next.
 * PADDED: the objects begin at lines. */
#include "threads.h"

#define POINTS 20000

typedef struct {
    signed char x, y;
} point;

struct lreg_args {
    pthread_t thread;
    const point* points;
    int count;
    long long SX, SY, SXX, SYY, SXY;
};
_Static_assert(sizeof(struct lreg_args) == LINE, "an object is as large as a line");

static point points[THREADS * POINTS];
static struct lreg_args* arguments;

void setup(void) {
    for (int n = 0; n < THREADS * POINTS; ++n) points[n] = (point){(signed char)n, (signed char)(n * 7)};
#ifdef PADDED
    arguments = aligned_alloc(LINE, THREADS * sizeof *arguments);
#else
    arguments = malloc(THREADS * sizeof *arguments);
#endif
    for (int me = 0; me < THREADS; ++me) {
        arguments[me] = (struct lreg_args){.points = &points[me * POINTS], .count = POINTS};
    }
}

void work(int me) {
    struct lreg_args* const args = &arguments[me];
    for (int i = 0; i < args->count; ++i) {
        args->SX += args->points[i].x;
        args->SXX += args->points[i].x * args->points[i].x;
        args->SY += args->points[i].y;
        args->SYY += args->points[i].y * args->points[i].y;
        args->SXY += args->points[i].x * args->points[i].y;
    }
}
