// SPDX-License-Identifier: GPL-2.0-or-later
package jbb;

import java.util.HashMap;
import java.util.Map;

/** What can be ordered. Its price, in cents, follows from its number. */
record Item(int number, String name, int price) {
    static Map<Integer, Item> catalogue(int items) {
        Map<Integer, Item> all = new HashMap<>();
        for (int number = 0; number < items; ++number) {
            all.put(number, new Item(number, Names.of(number, 2), price(number)));
        }
        return all;
    }

    private static int price(int number) {
        return 100 + (((number * 40503) & 0xFFFF) * 9900 >> 16);
    }
}
