// SPDX-License-Identifier: GPL-2.0-or-later
package jbb;

/** Numbers that follow from a reference. The load generator draws the same ones (workloads/loadgen/jbb/draws.h). */
final class Draws {
    private long state;

    Draws(long reference) {
        state = reference;
    }

    /** 64 bits (splitmix64). */
    long bits() {
        state += 0x9E3779B97F4A7C15L;
        long z = state;
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }

    /** 0 to n-1. */
    int below(int n) {
        return high(bits(), n);
    }

    /** 0 to n-1, by the upper half of 64 bits. */
    static int high(long bits, int n) {
        return (int) (((bits >>> 32) * n) >>> 32);
    }

    /** The same by the lower half. */
    static int low(long bits, int n) {
        return (int) (((bits & 0xFFFFFFFFL) * n) >>> 32);
    }
}
