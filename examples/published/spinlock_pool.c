/* SPDX-License-Identifier: GPL-2.0-or-later
 * The case of boost::detail::spinlock_pool (Boost 1.36 to 1.49, found by Predator: Liu and others, PPoPP
 * 2014): 41 spinlocks of 4 bytes in an array. An object is protected by the lock to which its address leads.
 * Objects that have nothing in common have locks in one line. PADDED: each lock has a line. */
#include "threads.h"

#include <stdint.h>

#define LOCKS 41
#define ROUNDS 20000

struct spinlock {
#ifdef PADDED
    _Alignas(LINE)
#endif
        int v;
};
static struct { struct spinlock lock[LOCKS]; } spinlock_pool __attribute__((aligned(LINE)));

/* The addresses differ from run to run. Of 41 neighbours, one leads to each lock, so each thread can have the
 * object that leads to the lock of its own number: the first four locks, in one line. */
static struct object { _Alignas(LINE) long value; } objects[LOCKS];
static struct object* object_of[THREADS];

static unsigned lock_number(const void* object) {
    return (uintptr_t)object / LINE % LOCKS;
}

static struct spinlock* spinlock_for(const void* object) {
    return &spinlock_pool.lock[lock_number(object)];
}

void setup(void) {
    for (int n = 0; n < LOCKS; ++n) {
        const unsigned lock = lock_number(&objects[n]);
        if (lock < THREADS) object_of[lock] = &objects[n];
    }
}

void work(int me) {
    struct object* const object = object_of[me];
    for (int n = 0; n < ROUNDS; ++n) {
        struct spinlock* const mine = spinlock_for(object);
        while (__atomic_exchange_n(&mine->v, 1, __ATOMIC_ACQUIRE) != 0) __builtin_ia32_pause();
        object->value += n;
        __atomic_store_n(&mine->v, 0, __ATOMIC_RELEASE);
    }
}
