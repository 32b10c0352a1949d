// SPDX-License-Identifier: GPL-2.0-or-later
package jbb;

/** What a warehouse has of an item. */
final class Stock {
    private static final int FEWEST = 10;
    private static final int DELIVERED = 91;

    final String label;
    private int quantity;
    private int orders;
    private long sold;

    Stock(String label, int quantity) {
        this.label = label;
        this.quantity = quantity;
    }

    int quantity() {
        return quantity;
    }

    /** Takes out so many; new ones come before there are too few. */
    void take(int wanted) {
        quantity -= wanted;
        if (quantity < FEWEST) quantity += DELIVERED;
        sold += wanted;
        ++orders;
    }
}
