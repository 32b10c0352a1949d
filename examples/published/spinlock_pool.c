/* SPDX-License-Identifier: GPL-2.0-or-later
 * The case of boost::detail::spinlock_pool (Boost 1.36 to 1.49, found by Predator: Liu and others, PPoPP
 * 2014): 41 spinlocks of 4 bytes in an array. An object is protected by the lock to which its address leads.
 * Objects that have nothing in common have locks in one line. PADDED: each lock has a line. */
#include "threads.h"

#include <stdint.h>

#define LOCKS 41
#define ROUNDS 4000

struct spinlock {
#ifdef PADDED
    _Alignas(LINE)
#endif
        int v;
};
static struct { struct spinlock lock[LOCKS]; } spinlock_pool __attribute__((aligned(LINE)));

static struct { _Alignas(LINE) long value; } shared[THREADS];

void setup(void) {}

static struct spinlock* spinlock_for(const void* object) {
    return &spinlock_pool.lock[(uintptr_t)object / LINE % LOCKS];
}

void work(int me) {
    for (int n = 0; n < ROUNDS; ++n) {
        struct spinlock* const mine = spinlock_for(&shared[me]);
        while (__atomic_exchange_n(&mine->v, 1, __ATOMIC_ACQUIRE) != 0) __builtin_ia32_pause();
        shared[me].value += n;
        __atomic_store_n(&mine->v, 0, __ATOMIC_RELEASE);
    }
}
