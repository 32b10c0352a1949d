/* SPDX-License-Identifier: GPL-2.0-or-later
 * The threads write one word in turn. A turn reads the word that the thread before has written (a transfer
 * from M), and writes it (an upgrade, because that thread still has a copy). With more than two threads,
 * those that wait read the word after every turn, too. The order is fixed. */
#include "threads.h"

static line word;

__attribute__((noinline)) void operation(int me, long n) {
    while (word.value != n * threads + me) pause_loop();
    word.value = n * threads + me + 1;
}
