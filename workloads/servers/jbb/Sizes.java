// SPDX-License-Identifier: GPL-2.0-or-later
package jbb;

/** How much there is: in a warehouse, in a district of it, and of items, which are all warehouses'. */
record Sizes(int districts, int customers, int items, int orders) {
    private static final int WHOLE_KIB = 20480;

    /** Of warehouses of about so many KiB: what 20 MiB hold, in proportion. */
    static Sizes of(int kib) {
        return new Sizes(10, part(1200, kib, 10), part(20000, kib, 100), part(2000, kib, 30));
    }

    private static int part(int whole, int kib, int least) {
        return Math.max(least, (int) ((long) whole * kib / WHOLE_KIB));
    }

    /** Orders, all districts together, that a warehouse begins with. */
    int filled() {
        return districts * orders;
    }

    /** Deliveries of one order a district that are made of them. */
    int rounds() {
        return orders * 9 / 10;
    }
}
